"""What a scorer of arcs consists of: the parameters that a parser keeps, and the scorers made of them.

A new scorer is a file with subclasses of these two classes, and its parameters in `ARC_SCORERS` (`arc_scorers`).

Linear scores of arcs: weights of template features, hashed into a table of fixed size.

The scorers of arcs, by their names in model files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.arcs import EncodedArcs
from tagweave.features.rules import Rule, power_of_two
from tagweave.kernels import arc_features, arcs
from tagweave.kernels.arcs import tree_paths
from tagweave.structures.tree import TreeBatch, layout

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]

_BATCH_CELLS = 1 << 16  # arcs whose scores are held at a time


@dataclass(frozen=True)
class ArcBatch(TreeBatch):
    """Sentences first .. last - 1 of a corpus, ready to be scored."""

    first: int
    last: int
    codes: NDArray[np.uint64]  # [P, R], as in `kernels.arcs`
    paths: NDArray[np.uint8]  # [cells], through the guide tree; empty without a guide

    @property
    def ptr(self) -> NDArray[np.int64]:
        return self.evidence.position_ptr


class ArcScorer(ABC):
    """The scores of arcs, and the gradient of the weights."""

    @abstractmethod
    def scores(self, batch: ArcBatch) -> Floats:
        """The scores of the arcs of a batch, by cell, then of its pairs, from which the structure computes."""

    @abstractmethod
    def add_gradient(self, batch: ArcBatch, d_scores: Floats) -> None:
        """Add to the gradient of the weights, given that of the loss with respect to the scores of the batch."""

    @property
    def moves(self) -> Blocks | None:
        """The weights that the last `add_gradient` moved from 0, as blocks; `None` if unknown or moved back since."""
        return None


class ArcScorerParameters(ABC):
    """The parameters of a scorer of arcs: what its weights mean."""

    kind: ClassVar[str]  # the name of the scorer in model files

    templates: ArcTemplates  # the features that sentences are encoded by

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    @abstractmethod
    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        """The scores of all arcs of a batch under a weight vector [size], by cell, then of its pairs."""

    @abstractmethod
    def scorer(self, weights: Floats, gradient: Floats, threshold: float) -> ArcScorer:
        """Return a scorer that adds to `gradient` [size]; it may leave out arcs whose derivative is below the
        threshold."""

    def touched(self) -> Callable[[ArcBatch], Blocks]:
        """Return a function from a batch to the weights that it can touch (by default all): blocks start[i] .. stop[i]
        - 1."""
        every = np.array([0]), np.array([self.size])
        return lambda batch: every

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The entries of a parser's description that `of_parts` needs, besides the templates."""

    @classmethod
    @abstractmethod
    def rules(cls) -> dict[str, Rule]:
        """The rules for `to_json`."""

    @classmethod
    @abstractmethod
    def of_parts(cls, description: dict[str, Any], templates: ArcTemplates) -> ArcScorerParameters:
        """The parameters whose `to_json`, which follows the rules, this is."""

    def batch(self, encoded: EncodedArcs, first: int, last: int) -> ArcBatch:
        """The hashed sides of sentences first .. last - 1."""
        terms, seeds = self.templates.codes
        evidence, ptr = encoded.evidence.part(first, last), encoded.position_ptr[first : last + 1]
        codes = np.empty((int(ptr[-1] - ptr[0]), len(seeds)), np.uint64)
        arcs.side_codes(encoded.columns, ptr, terms, seeds, codes)
        cells, pair_ptr = layout(evidence, self.templates.has_siblings)
        paths = np.empty(int(cells[-1]) if self.templates.guide else 0, np.uint8)
        if self.templates.guide:
            tree_paths(encoded.guide, ptr, paths)
        return ArcBatch(evidence, cells, pair_ptr, first, last, codes, paths)


def batch_bounds(encoded: EncodedArcs) -> Iterator[tuple[int, int]]:
    """first, last of batches of sentences with about `_BATCH_CELLS` arcs."""
    cells = encoded.evidence.cells
    first = 0
    while first < len(encoded):
        last = int(np.searchsorted(cells, cells[first] + _BATCH_CELLS, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


ROWS = power_of_two(1 << 30)
"""The rule for a number of rows."""


@dataclass(frozen=True)
class ArcFeatures(ArcScorerParameters):
    """The parameters of the linear scorer: templates, and a power of two of rows to which features are hashed."""

    kind: ClassVar[str] = "linear"

    templates: ArcTemplates
    rows: int

    @property
    def size(self) -> int:
        return (self.rows + self._pair_rows) * arcs.BINS

    @property
    def _pair_rows(self) -> int:
        """The rows of pairs of siblings, behind those of arcs: fewer, since their features are mostly of tags."""
        return max(1, self.rows // 4) if self.templates.has_siblings else 0

    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        scores = np.empty(batch.size, weights.dtype)
        of_arcs, of_pairs = self._tables(weights)
        arcs.score_arcs(of_arcs, batch.codes, self.templates.sizes, batch.ptr, batch.paths, scores)
        if len(of_pairs):
            arc_features.score_pairs(of_pairs, *self._pairs(batch), scores)
        return scores

    def scorer(self, weights: Floats, gradient: Floats, threshold: float) -> LinearArcScorer:
        return LinearArcScorer(self, weights, gradient, threshold)

    def touched(self) -> TouchedRows:
        return TouchedRows(self)

    def add_gradient(
        self, gradient: Floats, batch: ArcBatch, difference: Floats, threshold: float
    ) -> NDArray[np.int64]:
        """Add the features of arcs and pairs times their differences above the threshold; return rows that were 0
        before."""
        (of_arcs, of_pairs), sizes = self._tables(gradient), self.templates.sizes
        rows: NDArray[np.int64] = arcs.add_arc_gradient(
            of_arcs, batch.codes, sizes, batch.ptr, batch.paths, difference, threshold
        )
        if not len(of_pairs):
            return rows
        more = arc_features.add_pair_gradient(of_pairs, *self._pairs(batch), difference, threshold)
        return np.concatenate([rows, self.rows + more])

    def touched_rows(self, batch: ArcBatch, seen: NDArray[np.int32], stamp: int) -> NDArray[np.int64]:
        """The distinct rows of all features of a batch; `stamp` as in `kernels.arcs`, seen int32[all rows]."""
        of_arcs, of_pairs = seen[: self.rows], seen[self.rows :]
        rows: NDArray[np.int64] = arcs.touched_rows(
            batch.codes, self.templates.sizes, batch.ptr, batch.paths, of_arcs, stamp
        )
        if not len(of_pairs):
            return rows
        more = arc_features.touched_pair_rows(*self._pairs(batch), of_pairs, stamp)
        return np.concatenate([rows, self.rows + more])

    def _tables(self, vector: Floats) -> tuple[Floats, Floats]:
        """The rows of arcs and of pairs in a vector of all weights."""
        table = vector.reshape(-1, arcs.BINS)
        return table[: self.rows], table[self.rows :]

    def _pairs(self, batch: ArcBatch) -> tuple[Any, ...]:
        templates = self.templates
        return batch.codes, templates.first_of_siblings, templates.sibling_sizes, batch.ptr, batch.pair_ptr

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows}

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        return {"rows": ROWS}

    @classmethod
    def of_parts(cls, description: dict[str, Any], templates: ArcTemplates) -> ArcFeatures:
        return cls(templates, description["rows"])


class LinearArcScorer(ArcScorer):
    """The scores of arcs under weights [size]; gradients are added to `gradient` [size] from the threshold on."""

    def __init__(self, features: ArcFeatures, weights: Floats, gradient: Floats, threshold: float) -> None:
        self._features, self._weights, self._gradient, self._threshold = features, weights, gradient, threshold
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)

    def scores(self, batch: ArcBatch) -> Floats:
        return self._features.scores(self._weights, batch)

    def add_gradient(self, batch: ArcBatch, d_scores: Floats) -> None:
        self._rows = self._features.add_gradient(self._gradient, batch, d_scores, self._threshold)

    @property
    def moves(self) -> Blocks | None:
        rows = self._rows
        if len(rows) and self._gradient.reshape(-1, arcs.BINS)[rows[0]].any():
            return rows * arcs.BINS, (rows + 1) * arcs.BINS
        return None


class TouchedRows:
    """The weights that the arcs of a batch can touch: the rows of all their features."""

    def __init__(self, features: ArcFeatures) -> None:
        self._features, self._calls = features, 0
        self._seen = np.zeros(0, np.int32)

    def __call__(self, batch: ArcBatch) -> Blocks:
        if not len(self._seen):
            self._seen = np.zeros(self._features.size // arcs.BINS, np.int32)
        self._calls += 1
        rows = self._features.touched_rows(batch, self._seen, self._calls)
        return rows * arcs.BINS, (rows + 1) * arcs.BINS


ARC_SCORERS: dict[str, type[ArcScorerParameters]] = {ArcFeatures.kind: ArcFeatures}
