"""Sum-product over a batch of sentences: from emission scores to log Z and marginals, under two evidences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.scope import Scope
from tagweave.kernels import chain
from tagweave.models.logarithms import LogSums, sum_in_logarithms
from tagweave.models.structure import Transitions

Floats = NDArray[Any]

_SPARSE = 0.25  # share of allowed labels below which skipping zeros beats a matrix product


@dataclass(frozen=True)
class Batch:
    """Sentences first .. last - 1 of an encoded corpus, laid out in lockstep.

    Attributes:
        first, last: the sentences.
        tokens: the slice of their tokens.
        order: int64[B], the sentence (from `first`) of each lane, the longest first; empty sentences are left out.
        rows: int32[n], the row of every token.
        steps: int64[T + 1], the first row of each step.
    """

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
        return cls(first, last, slice(int(ptr[0]), int(ptr[-1])), order, rows, steps)

    @property
    def lanes(self) -> int:
        """How many sentences are not empty."""
        return len(self.order)


class Workspace:
    """Buffers for batches of up to `rows` tokens over Y labels, allocated once and used again for every batch."""

    def __init__(self, rows: int, labels: int, dtype: type[np.floating[Any]]) -> None:
        self.rows, self.labels, self.dtype = rows, labels, dtype
        names = ("scores", "free", "restricted", "alpha", "alpha_restricted", "before", "beyond", "difference")
        self._matrices = {name: np.zeros((rows, labels), dtype) for name in names}
        self._vectors = {name: np.zeros(rows, dtype) for name in ("shift", "shift_restricted", "scale")}

    def matrix(self, name: str, rows: int) -> Floats:
        """The first rows of a [rows, Y] buffer."""
        return self._matrices[name][:rows]

    def vector(self, name: str, rows: int) -> Floats:
        """The first entries of a [rows] buffer."""
        return self._vectors[name][:rows]


@dataclass(frozen=True)
class Sums:
    """What sum-product knows of a batch.

    Attributes:
        log_z: float64[B], by lane.
        gamma: [n, Y] state marginals by row.
        before, beyond: [n, Y]; before[r] (x) beyond[r] * T are the pair marginals into row r.
        dense: whether products of these go through BLAS.
        exact: by lane, the sums of sentences that were out of range and summed in logarithms; their `before` and
            `beyond` are 0.
    """

    log_z: NDArray[np.float64]
    gamma: Floats
    before: Floats
    beyond: Floats
    dense: bool
    exact: dict[int, LogSums] = field(default_factory=dict)


def free_potentials(scores: Floats, batch: Batch, encoded: Encoded, space: Workspace) -> tuple[Floats, Floats, bool]:
    """exp(score - shift) by row, the shift of each row, and whether most labels are in scope."""
    free, shift = space.matrix("free", len(batch.rows)), space.vector("shift", len(batch.rows))
    chain.shift_scores(scores, batch.rows, free, shift)
    np.exp(free, out=free)
    return free, shift, encoded.scope is None or _in_scope(encoded.scope, batch) > _SPARSE * free.size


def _in_scope(scope: Scope, batch: Batch) -> int:
    return int(scope.ptr[batch.tokens.stop] - scope.ptr[batch.tokens.start])


def restricted_potentials(
    free: Floats,
    shift: Floats,
    scores: Floats,
    batch: Batch,
    encoded: Encoded,
    masks: NDArray[np.uint8],
    space: Workspace,
) -> tuple[Floats, Floats, bool]:
    """The potentials of allowed labels, the shift of each row, and whether most labels are allowed."""
    n = len(batch.rows)
    restricted, restricted_shift = space.matrix("restricted", n), space.vector("shift_restricted", n)
    doubt = encoded.doubt[batch.tokens] if len(encoded.doubt) else encoded.doubt
    allow = encoded.allow[batch.tokens]
    kept = chain.restrict(free, shift, scores, batch.rows, allow, masks, doubt, restricted, restricted_shift)
    return restricted, restricted_shift, kept > _SPARSE * restricted.size


def allowed_scores(
    scores: Floats, batch: Batch, encoded: Encoded, masks: NDArray[Any], tokens: slice
) -> NDArray[np.float64]:
    """float64[L, Y]: the scores of some tokens of a batch, with the logarithm of what the evidence leaves of each."""
    share = np.asarray(masks[encoded.allow[batch.tokens][tokens]], np.float64)
    if len(encoded.doubt):
        share = np.maximum(share, encoded.doubt[batch.tokens][tokens, None])
    return np.where(share > 0, scores[tokens] + np.log(np.where(share > 0, share, 1)), -np.inf)


def sum_product(
    E: Floats,
    shift: Floats,
    batch: Batch,
    transitions: Transitions,
    space: Workspace,
    alpha: str,
    exact_scores: Callable[[slice], Floats],
    dense: bool = True,
) -> Sums:
    """Forward and backward over potentials `E`; the marginals end in the buffer named `alpha`.

    `exact_scores` gives the scores [L, Y] (-inf: excluded) of some tokens of the batch: those of a sentence that allows
    nothing of what is in the range of `E`, which is summed in logarithms.
    """
    n = len(batch.rows)
    gamma, before, beyond = space.matrix(alpha, n), space.matrix("before", n), space.matrix("beyond", n)
    scale, log_z = space.vector("scale", n), np.empty(batch.lanes)
    t = transitions
    chain.forward(E, shift, batch.steps, t.potential, t.start, t.end, dense, gamma, before, scale, log_z)
    chain.backward(E, batch.steps, t.transposed, t.end, dense, gamma, scale, beyond)
    sums = Sums(log_z, gamma, before, beyond, dense)
    for lane in np.flatnonzero(log_z == -np.inf):
        _sum_again(sums, int(lane), batch, transitions, exact_scores)
    return sums


def _sum_again(
    sums: Sums, lane: int, batch: Batch, transitions: Transitions, exact_scores: Callable[[slice], Floats]
) -> None:
    """Replace what is known of the sentence of a lane by its sums in logarithms."""
    rows = batch.steps[:-1][np.diff(batch.steps) > lane] + lane
    first = int(np.flatnonzero(batch.rows == rows[0])[0])
    exact = sum_in_logarithms(exact_scores(slice(first, first + len(rows))).astype(np.float64), transitions)
    # the other sentences' log Z is without what the scaling of transitions took out
    sums.log_z[lane] = exact.log_z - (len(rows) - 1) * transitions.step - transitions.edge
    sums.gamma[rows], sums.before[rows], sums.beyond[rows] = exact.gamma, 0, 0
    sums.exact[lane] = exact
