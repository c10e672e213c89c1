"""Scorers of arcs: the parameters that a parser keeps, and the scorers made of them; and the linear ones.

Linear scores are sums of weights of template features, hashed into a table of fixed size. A new scorer is a file with
subclasses of both base classes, and its parameters in `ARC_SCORERS`.
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
ROWS = power_of_two(1 << 30)
"""The rule for a number of rows."""


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
        """Return a scorer that adds to `gradient` [size], and may skip derivatives below the threshold."""

    def touched(self) -> Callable[[ArcBatch], Blocks]:
        """Return a function from a batch to the weights that it can touch (default: all), blocks start[i] .. stop[i] -
        1."""
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
        last = max(first + 1, int(np.searchsorted(cells, cells[first] + _BATCH_CELLS, side="right")) - 1)
        yield first, last
        first = last


@dataclass(frozen=True)
class ArcFeatures(ArcScorerParameters):
    """The parameters of the linear scorer: templates, and a power of two of rows to which features are hashed."""

    kind: ClassVar[str] = "linear"

    templates: ArcTemplates
    rows: int

    @property
    def size(self) -> int:
        # rows of pairs of siblings stand behind those of arcs: fewer, since their features are mostly of tags
        of_pairs = max(1, self.rows // 4) if self.templates.has_siblings else 0
        return (self.rows + of_pairs) * arcs.BINS

    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        scores = np.empty(batch.size, weights.dtype)
        of_arcs, of_pairs = self._tables(weights)
        arcs.score_arcs(of_arcs, batch.codes, self.templates.sizes, batch.ptr, batch.paths, scores)
        if len(of_pairs):
            arc_features.score_pairs(of_pairs, *self._pairs(batch), scores)
        return scores

    def scorer(self, weights: Floats, gradient: Floats, threshold: float) -> LinearArcScorer:
        return LinearArcScorer(self, weights, gradient, threshold)

    def touched(self) -> Callable[[ArcBatch], Blocks]:
        seen, calls = np.zeros(0, np.int32), 0

        def touched_in(batch: ArcBatch) -> Blocks:
            nonlocal seen, calls
            if not len(seen):
                seen = np.zeros(self.size // arcs.BINS, np.int32)
            calls += 1
            of_arcs, of_pairs = seen[: self.rows], seen[self.rows :]
            rows = arcs.touched_rows(batch.codes, self.templates.sizes, batch.ptr, batch.paths, of_arcs, calls)
            if len(of_pairs):
                more = arc_features.touched_pair_rows(*self._pairs(batch), of_pairs, calls)
                rows = np.concatenate([rows, self.rows + more])
            return rows * arcs.BINS, (rows + 1) * arcs.BINS

        return touched_in

    def add_gradient(self, gradient: Floats, batch: ArcBatch, change: Floats, threshold: float) -> NDArray[np.int64]:
        """Add features of arcs and pairs times differences above the threshold; return rows that were 0 before."""
        (of_arcs, of_pairs), given = self._tables(gradient), (change, threshold)
        rows: NDArray[np.int64]
        rows = arcs.add_arc_gradient(of_arcs, batch.codes, self.templates.sizes, batch.ptr, batch.paths, *given)
        if not len(of_pairs):
            return rows
        more = arc_features.add_pair_gradient(of_pairs, *self._pairs(batch), *given)
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


ARC_SCORERS: dict[str, type[ArcScorerParameters]] = {ArcFeatures.kind: ArcFeatures}
