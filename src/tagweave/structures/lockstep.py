"""Batches of sentences in lockstep, and the buffers of their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import chain
from tagweave.structures.logarithms import LogSums

Floats = NDArray[Any]


@dataclass(frozen=True)
class Batch:
    """Sentences first .. last - 1 of an encoded corpus, laid out in lockstep.

    Attributes:
        encoded: the corpus.
        first, last: the sentences.
        tokens: the slice of their tokens.
        order: int64[B], the sentence (from `first`) of each batch row, the longest first; empty sentences are left out.
        rows: int32[n], the row of every token.
        steps: int64[T + 1], the first row of each step.
    """

    encoded: Encoded
    first: int
    last: int
    tokens: slice
    order: NDArray[np.int64]
    rows: NDArray[np.int32]
    steps: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded, first: int, last: int) -> Batch:
        """Lay out sentences first .. last - 1."""
        ptr = encoded.sentence_ptr[first : last + 1]
        lengths = np.diff(ptr)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        rows = np.empty(int(ptr[-1] - ptr[0]), np.int32)
        steps = np.zeros(int(lengths.max(initial=0)) + 1, np.int64)
        chain.pack(lengths[order], order, ptr - ptr[0], rows, steps)
        return cls(encoded, first, last, slice(int(ptr[0]), int(ptr[-1])), order, rows, steps)

    @property
    def size(self) -> int:
        """How many sentences are not empty."""
        return len(self.order)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """float64[B]: how much the sentence of each batch row counts."""
        weights: NDArray[np.float64] = self.encoded.weights[self.first : self.last][self.order]
        return weights

    def tokens_of(self, batch_row: int) -> slice:
        """The tokens of the sentence in a batch row, from 0."""
        sentence = int(self.order[batch_row])
        return slice(int(self.ptr[sentence]), int(self.ptr[sentence + 1]))

    @property
    def ptr(self) -> NDArray[np.int64]:
        """int64[S + 1]: the first token of each sentence, from 0."""
        ptr: NDArray[np.int64] = self.encoded.sentence_ptr[self.first : self.last + 1] - self.tokens.start
        return ptr


class Workspace:
    """Buffers for batches of up to `rows` tokens over Y labels, allocated once and used again for every batch."""

    def __init__(self, rows: int, labels: int, dtype: type[np.floating[Any]]) -> None:
        self.rows, self.labels, self.dtype = rows, labels, dtype
        names = ("scores", "free", "restricted", "alpha", "gamma", "before", "beyond", "difference")
        self._matrices = {name: np.zeros((rows, labels), dtype) for name in names}
        self._vectors = {name: np.zeros(rows, dtype) for name in ("shift", "shift_restricted", "scale")}
        self._lists = {name: np.empty(rows * labels, np.int32) for name in ("free", "restricted")}

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

    def lists(self, name: str, rows: int, cells: int) -> chain.Lists:
        """Lists of the labels of each row, to be filled in."""
        return chain.Lists(np.empty(rows + 1, np.int64), self._lists[name][:cells])


@dataclass(frozen=True)
class Sums:
    """The results of sum-product over a batch.

    Attributes:
        log_z: float64[B], by batch row.
        gamma: [n, Y] state marginals by row.
        alpha, beyond: [n, Y]; alpha[s] (x) beyond[r] * T are the pair marginals into row r, s the row before it.
        steps: int64[T + 1], the first row of each step.
        lists: the labels of each row that can have marginals; if not all, the arrays are [1, cells] (`chain.Lists`).
        size: Y.
        exact: by batch row, the sums in logarithms of sentences that were out of range. In the arrays they are 0.
    """

    log_z: NDArray[np.float64]
    gamma: Floats
    alpha: Floats
    beyond: Floats
    steps: NDArray[np.int64]
    lists: chain.Lists
    size: int
    exact: dict[int, LogSums] = field(default_factory=dict)

    def marginals(self) -> Floats:
        """[n, Y]: the state marginals by row."""
        gamma = self._spread(self.gamma)
        for batch_row, exact in self.exact.items():
            gamma[self.rows_of(batch_row)] = exact.gamma
        return gamma

    def pairs(self, potential: Floats) -> Floats:
        """[n, Y, Y]: the marginals of the label of each row and of the row before; 0 in the first step.

        Args:
            potential: [Y, Y], of transitions.
        """
        alpha, beyond = self._spread(self.alpha), self._spread(self.beyond)
        before = np.zeros_like(alpha)
        for first, low, high in zip(self.steps[:-2], self.steps[1:-1], self.steps[2:], strict=True):
            before[low:high] = alpha[first : first + high - low]
        pairs: Floats = before[:, :, None] * beyond[:, None, :] * potential
        for batch_row, exact in self.exact.items():
            for row, each in zip(self.rows_of(batch_row)[1:], exact.pairs(), strict=True):
                pairs[row] = each
        return pairs

    def rows_of(self, batch_row: int) -> NDArray[np.int64]:
        """int64[L]: the rows of the sentence in a batch row."""
        rows: NDArray[np.int64] = self.steps[:-1][np.diff(self.steps) > batch_row] + batch_row
        return rows

    def _spread(self, cells: Floats) -> Floats:
        """[n, Y]: a copy with all labels."""
        if not len(self.lists.ptr):
            return cells.copy()
        rows = np.zeros((len(self.lists.ptr) - 1, self.size), cells.dtype)
        rows[np.repeat(np.arange(len(rows)), np.diff(self.lists.ptr)), self.lists.labels] = cells[0]
        return rows
