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

    @property
    def ptr(self) -> NDArray[np.int64]:
        """int64[S + 1]: the first token of each sentence, from 0."""
        ptr: NDArray[np.int64] = self.encoded.sentence_ptr[self.first : self.last + 1] - self.tokens.start
        return ptr


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
    """The results of sum-product over a batch.

    Attributes:
        log_z: float64[B], by batch row.
        gamma: [n, Y] state marginals by row.
        before, beyond: [n, Y]; before[r] (x) beyond[r] * T are the pair marginals into row r.
        dense: whether products of `before` and `beyond` use BLAS.
        exact: by batch row, the sums in logarithms of sentences that were out of range; their `before` and `beyond` are
            0.
    """

    log_z: NDArray[np.float64]
    gamma: Floats
    before: Floats
    beyond: Floats
    dense: bool
    exact: dict[int, LogSums] = field(default_factory=dict)
