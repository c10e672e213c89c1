"""Transition scores, batches of sentences in lockstep, the buffers of their sums, and sums in logarithms.

Scaled probabilities lose a label whose share at its position is below the smallest number. If the scheme or the
evidence then rules out all labels that remain, the sentence is summed again here, by the recurrence of `kernels.chain`.
One case goes unnoticed: a label that falls out of range at one position and would win over later positions by steps
that are each in range. That takes gaps of 88 in single precision, of 700 in double.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence
from tagweave.kernels import chain, products

Floats = NDArray[Any]


@dataclass(frozen=True)
class TransitionScores:
    """Transition scores of all views together, and their potentials.

    `potential`, `start` and `end` are exp(score - largest score), 0 where the scheme forbids; `step` and `edge` are the
    largest scores that were taken out: add `step` to log Z for every step, and `edge` once per sentence.
    """

    score: Floats
    start_score: Floats
    end_score: Floats
    potential: Floats
    start: Floats
    end: Floats
    step: float
    edge: float

    @classmethod
    def of_scores(cls, score: Floats, start: Floats, end: Floats) -> TransitionScores:
        """From scores [Y, Y] (row: from), of first labels [Y] and of last labels [Y]; -inf is forbidden."""
        step, first, last = _largest(score), _largest(start), _largest(end)
        potential = np.exp(score - step)
        return cls(score, start, end, potential, np.exp(start - first), np.exp(end - last), step, first + last)

    @cached_property
    def transposed(self) -> Floats:
        return np.ascontiguousarray(self.potential.T)

    @cached_property
    def panels(self) -> tuple[Floats, Floats]:
        """The panels of the potentials and of their transpose (`kernels.products`)."""
        return products.panels(self.potential), products.panels(self.potential, transposed=True)

    @cached_property
    def transposed_score(self) -> Floats:
        return np.ascontiguousarray(self.score.T)

    @cached_property
    def bounds(self) -> Floats:
        """[2, Y]: the largest and the smallest score from each label (`kernels.decode.row_bounds`)."""
        return np.stack([self.score.max(axis=1), self.score.min(axis=1)])


def _largest(scores: Floats) -> float:
    """The largest score; 0 where all are -inf, so that it can be taken out."""
    largest = float(scores.max())
    return largest if largest > -np.inf else 0.0


@dataclass(frozen=True)
class LogSums:
    """The results of sum-product over a sentence of L tokens; -inf and 0 where no sequence is allowed."""

    log_z: float  # log Z
    gamma: NDArray[np.float64]  # [L, Y], state marginals
    # [L, Y]; exp(before[t, i] + transition score + beyond[t, j]) are the pair marginals of t - 1, t (t > 0)
    before: NDArray[np.float64]
    beyond: NDArray[np.float64]
    score: Floats  # float[Y, Y], the transition scores

    def pairs(self) -> Iterator[Floats]:
        """The pair marginals [Y, Y] of positions t - 1, t for t = 1 .. L - 1."""
        for before, beyond in zip(self.before[1:], self.beyond[1:], strict=True):
            yield np.exp(before[:, None] + self.score + beyond)


def sum_in_logarithms(scores: Floats, transitions: TransitionScores) -> LogSums:
    """Run forward and backward over one sentence; scores are float64[L, Y], L > 0, -inf for excluded labels."""
    t, length = transitions, len(scores)
    alpha, beta, before = np.empty_like(scores), np.empty_like(scores), np.full_like(scores, -np.inf)
    alpha[0] = t.start_score + scores[0]
    beta[-1] = t.end_score
    for i in range(1, length):
        before[i] = alpha[i - 1]
        alpha[i] = np.logaddexp.reduce(alpha[i - 1][:, None] + t.score, axis=0) + scores[i]
        beta[-i - 1] = np.logaddexp.reduce(t.score + (scores[-i] + beta[-i]), axis=1)
    log_z = float(np.logaddexp.reduce(alpha[-1] + t.end_score))
    if log_z == -np.inf:
        nothing = np.full_like(scores, -np.inf)
        return LogSums(log_z, np.zeros_like(scores), nothing, nothing, t.score)
    return LogSums(log_z, np.exp(alpha + beta - log_z), before, scores + beta - log_z, t.score)


@dataclass(frozen=True)
class Batch:
    """Sentences laid out in lockstep."""

    evidence: Evidence  # the sentences, of n tokens
    # [B], the sentence of each batch row, the longest first; empty sentences are left out
    order: NDArray[np.int64]
    rows: NDArray[np.int32]  # [n], the row of every token
    steps: NDArray[np.int64]  # [T + 1], the first row of each step

    @classmethod
    def of(cls, evidence: Evidence) -> Batch:
        ptr = evidence.sentence_ptr
        lengths = np.diff(ptr)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        rows = np.empty(int(ptr[-1]), np.int32)
        steps = np.zeros(int(lengths.max(initial=0)) + 1, np.int64)
        chain.pack(lengths[order], order, ptr, rows, steps)
        return cls(evidence, order, rows, steps)

    @property
    def size(self) -> int:
        """How many sentences are not empty."""
        return len(self.order)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """float64[B]: how much the sentence of each batch row counts."""
        return np.asarray(self.evidence.weights[self.order])

    def tokens_of(self, batch_row: int) -> slice:
        sentence, ptr = int(self.order[batch_row]), self.evidence.sentence_ptr
        return slice(int(ptr[sentence]), int(ptr[sentence + 1]))


@dataclass(frozen=True)
class Steps:
    """The marginals of n tokens, and their pair marginals in factors: all of them would take n Y Y numbers."""

    gamma: Floats  # [n, Y]
    before: Floats  # [n, Y]; before[t, i] beyond[t, j] potential[i, j] is the marginal of labels i at t - 1 and j at t
    beyond: Floats  # [n, Y]
    potential: Floats  # [Y, Y]
    exact: Mapping[int, Floats]  # by token, the pair marginals [Y, Y] whose factors are out of range

    def pairs(self, tokens: NDArray[np.int64], labels: NDArray[np.int64]) -> Floats:
        """[M, K, K]: the pair marginals of M tokens among K labels for each, [M, K]."""
        rows, columns = labels[:, :, None], labels[:, None, :]
        at = tokens[:, None]
        pairs: Floats = self.before[at, labels][:, :, None] * self.beyond[at, labels][:, None, :]
        pairs *= self.potential[rows, columns]
        for number in [n for n, token in enumerate(tokens.tolist()) if token in self.exact] if self.exact else ():
            pairs[number] = self.exact[int(tokens[number])][rows[number], columns[number]]
        return pairs


class Workspace:
    """Buffers for batches of up to `rows` tokens over Y labels, allocated once and used again for every batch."""

    def __init__(self, rows: int, labels: int, dtype: type[np.floating[Any]]) -> None:
        self.rows, self.labels, self.dtype = rows, labels, dtype
        names = ("free", "restricted", "alpha", "gamma", "beyond")
        self._matrices = {name: np.zeros((rows, labels), dtype) for name in names}
        self._vectors = {name: np.zeros(rows, dtype) for name in ("shift", "shift_restricted", "scale")}
        self._labels = np.empty(rows * labels, np.int32)

    def matrix(self, name: str, rows: int) -> Floats:
        """The first rows of a [rows, Y] buffer."""
        return self._matrices[name][:rows]

    def cells(self, name: str, count: int) -> Floats:
        """The first cells of such a buffer, [1, count]."""
        cells: Floats = self._matrices[name].reshape(1, -1)[:, :count]
        return cells

    def vector(self, name: str, rows: int) -> Floats:
        """The first entries of a [rows] buffer."""
        return self._vectors[name][:rows]

    def lists(self, rows: int, cells: int) -> chain.Lists:
        return chain.Lists(np.empty(rows + 1, np.int64), self._labels[:cells])


@dataclass(frozen=True)
class Sums:
    """The results of sum-product over a batch."""

    log_z: NDArray[np.float64]  # [B], by batch row
    gamma: Floats  # [n, Y] state marginals by row
    alpha: Floats  # [n, Y]; alpha[s] (x) beyond[r] * T are the pair marginals into row r, s the row before it
    beyond: Floats
    steps: NDArray[np.int64]  # [T + 1], the first row of each step
    # the labels of each row that can have marginals; if not all, the arrays are [1, cells] (`chain.Lists`)
    lists: chain.Lists
    size: int  # Y
    # by batch row, the sums in logarithms of sentences that were out of range. In the arrays they are 0
    exact: dict[int, LogSums] = field(default_factory=dict)

    def marginals(self) -> Floats:
        gamma = self._spread(self.gamma)
        for batch_row, exact in self.exact.items():
            gamma[self.rows_of(batch_row)] = exact.gamma
        return gamma

    def pairs(self, potential: Floats) -> Floats:
        """Return [n, Y, Y]: the marginals of the label of each row and of the row before; 0 in the first step."""
        before, beyond = self._before(), self._spread(self.beyond)
        pairs: Floats = before[:, :, None] * beyond[:, None, :] * potential
        for batch_row, exact in self.exact.items():
            for row, row_pairs in zip(self.rows_of(batch_row)[1:], exact.pairs(), strict=True):
                pairs[row] = row_pairs
        return pairs

    def factored(self, rows: NDArray[np.int32], potential: Floats) -> Steps:
        """Return the pair marginals in their factors, for tokens in these rows."""
        pairs: dict[int, Floats] = {}
        for batch_row, exact in self.exact.items():
            pairs |= zip(self.rows_of(batch_row)[1:].tolist(), exact.pairs(), strict=True)
        exact_pairs = {at: pairs[row] for at, row in enumerate(rows.tolist()) if row in pairs} if pairs else {}
        return Steps(
            self.marginals()[rows], self._before()[rows], self._spread(self.beyond)[rows], potential, exact_pairs
        )

    def expected(self, potential: Floats, values: Floats) -> NDArray[np.float64]:
        """Return float64[n]: by row, the expectation of values [Y, Y] of the label before and the label; 0 at first."""
        beyond, finite = self._spread(self.beyond), np.where(potential > 0, values, 0)
        product: Floats = self._before() @ (potential * finite)
        expected: NDArray[np.float64] = (product * beyond).sum(axis=1, dtype=np.float64)
        for batch_row, exact in self.exact.items():
            for row, pairs in zip(self.rows_of(batch_row)[1:], exact.pairs(), strict=True):
                expected[row] = (pairs * finite).sum()
        return expected

    def _before(self) -> Floats:
        """Return alpha of the row before, [n, Y]; 0 in the first step."""
        alpha = self._spread(self.alpha)
        before = np.zeros_like(alpha)
        for first, low, high in zip(self.steps[:-2], self.steps[1:-1], self.steps[2:], strict=True):
            before[low:high] = alpha[first : first + high - low]
        return before

    def rows_of(self, batch_row: int) -> NDArray[np.int64]:
        """int64[L]: the rows of the sentence in a batch row."""
        rows: NDArray[np.int64] = self.steps[:-1][np.diff(self.steps) > batch_row] + batch_row
        return rows

    def _spread(self, cells: Floats) -> Floats:
        if not len(self.lists.ptr):
            return cells.copy()
        rows = np.zeros((len(self.lists.ptr) - 1, self.size), cells.dtype)
        rows[np.repeat(np.arange(len(rows)), np.diff(self.lists.ptr)), self.lists.labels] = cells[0]
        return rows
