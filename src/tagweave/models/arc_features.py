"""The scores of arcs: weights of template features, hashed into a table of fixed size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.arcs import EncodedArcs
from tagweave.kernels import arcs
from tagweave.kernels.tree_paths import tree_paths
from tagweave.structures.tree import ArcGradient

Floats = NDArray[Any]

_BATCH_CELLS = 1 << 16  # arcs whose scores are held at a time


class ArcBatch(NamedTuple):
    """Sentences first .. last - 1, ready to be scored.

    Attributes:
        encoded: the corpus.
        first, last: the sentences.
        ptr: int64[n + 1], the first position of each, from 0.
        cells: int64[n + 1], the first arc of each, from 0.
        lengths: int64[n], tokens.
        codes: uint64[P, R], as in `kernels.arcs`.
        paths: uint8[cells], through the guide tree; empty without a guide.
    """

    encoded: EncodedArcs
    first: int
    last: int
    ptr: NDArray[np.int64]
    cells: NDArray[np.int64]
    lengths: NDArray[np.int64]
    codes: NDArray[np.uint64]
    paths: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self.cells[-1])


@dataclass(frozen=True)
class ArcFeatures:
    """Templates, and the number of rows of weights, a power of two, into which their features are hashed."""

    templates: ArcTemplates
    rows: int

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.rows * arcs.BINS

    def batch(self, encoded: EncodedArcs, first: int, last: int) -> ArcBatch:
        """The hashed sides of sentences first .. last - 1."""
        terms, seeds = self.templates.codes
        low, high = encoded.position_ptr[first], encoded.position_ptr[last]
        ptr = encoded.position_ptr[first : last + 1]
        codes = np.empty((high - low, len(seeds)), np.uint64)
        arcs.side_codes(encoded.columns, ptr, terms, seeds, codes)
        cells = encoded.cells(first, last)
        paths = np.empty(int(cells[-1]) if self.templates.guide else 0, np.uint8)
        if self.templates.guide:
            tree_paths(encoded.guide, ptr, paths)
        return ArcBatch(encoded, first, last, ptr - low, cells, np.diff(ptr) - 1, codes, paths)

    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        """The scores of all arcs of a batch, by cell."""
        scores = np.empty(batch.size, weights.dtype)
        table = weights.reshape(self.rows, -1)
        arcs.score_arcs(table, batch.codes, self.templates.sizes, batch.ptr, batch.paths, scores)
        return scores

    def add_gradient(
        self, gradient: Floats, batch: ArcBatch, difference: Floats, threshold: float
    ) -> NDArray[np.int64]:
        """Add the features of every arc times its difference, if that exceeds the threshold.

        Returns:
            The rows that were 0 before, possibly with repeats.
        """
        table, sizes = gradient.reshape(self.rows, -1), self.templates.sizes
        rows: NDArray[np.int64] = arcs.add_arc_gradient(
            table, batch.codes, sizes, batch.ptr, batch.paths, difference, threshold
        )
        return rows


class ArcScorer:
    """The scores of arcs under a weight vector, and the gradient of the weights: a `Scorer`.

    Args:
        features: what the weights mean.
        weights: [features.size].
        gradient: [features.size]; gradients are added to it.
        threshold: arcs whose derivative does not exceed it are left out of the gradient.
    """

    def __init__(self, features: ArcFeatures, weights: Floats, gradient: Floats, threshold: float) -> None:
        self._features, self._weights, self._gradient, self._threshold = features, weights, gradient, threshold
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)

    def scores(self, batch: ArcBatch) -> Floats:
        """See `Scorer.scores`: by cell."""
        return self._features.scores(self._weights, batch)

    def add_gradient(self, batch: ArcBatch, d_scores: ArcGradient) -> None:
        """See `Scorer.add_gradient`; sets `rows` to the rows that were 0 before, possibly with repeats."""
        self.rows = self._features.add_gradient(self._gradient, batch, d_scores.arcs, self._threshold)


def batch_bounds(encoded: EncodedArcs) -> Iterator[tuple[int, int]]:
    """first, last of batches of sentences with about `_BATCH_CELLS` arcs."""
    cells = encoded.cells(0, len(encoded))
    first = 0
    while first < len(encoded):
        last = int(np.searchsorted(cells, cells[first] + _BATCH_CELLS, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last
