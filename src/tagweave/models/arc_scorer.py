"""What a scorer of arcs consists of: the parameters that a parser keeps, and the scorers made of them.

A new scorer is a file with subclasses of these two classes, and its parameters in `ARC_SCORERS` (`arc_scorers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.arcs import EncodedArcs
from tagweave.features.ragged import pointers
from tagweave.features.rules import Rule
from tagweave.kernels import arcs
from tagweave.kernels.tree_paths import tree_paths
from tagweave.structures.tree import ArcGradient

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]

_BATCH_CELLS = 1 << 16  # arcs whose scores are held at a time
_LONGEST = 255
"""Words of a sentence whose pairs of siblings have scores. Their number grows with the cube of the length: 22 MB."""


class ArcBatch(NamedTuple):
    """Sentences first .. last - 1, ready to be scored.

    Attributes:
        encoded: the corpus.
        first, last: the sentences.
        ptr: int64[n + 1], the first position of each, from 0.
        cells: int64[n + 1], the first arc of each, from 0.
        pair_ptr: int64[n + 1], the first pair of siblings of each (`kernels.siblings`), counted on from the arcs; the
            same again of a sentence whose pairs have no scores.
        lengths: int64[n], tokens.
        codes: uint64[P, R], as in `kernels.arcs`.
        paths: uint8[cells], through the guide tree; empty without a guide.
    """

    encoded: EncodedArcs
    first: int
    last: int
    ptr: NDArray[np.int64]
    cells: NDArray[np.int64]
    pair_ptr: NDArray[np.int64]
    lengths: NDArray[np.int64]
    codes: NDArray[np.uint64]
    paths: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """The number of arcs and pairs."""
        return int(self.pair_ptr[-1])


class ArcScorer(ABC):
    """The scores of arcs, and the gradient of the weights."""

    @abstractmethod
    def scores(self, batch: ArcBatch) -> Floats:
        """The scores of the arcs of a batch, by cell, then of its pairs, from which the structure computes."""

    @abstractmethod
    def add_gradient(self, batch: ArcBatch, d_scores: ArcGradient) -> None:
        """Add to the gradient of the weights, given that of the loss with respect to the scores of the batch."""

    @property
    def moves(self) -> Blocks | None:
        """The weights that the last `add_gradient` moved from 0, as blocks; `None` if unknown or moved back since."""
        return None


class ArcScorerParameters(ABC):
    """The parameters of a scorer of arcs: what its weights mean.

    Attributes:
        kind: the name of the scorer in model files.
        templates: the features that sentences are encoded by.
    """

    kind: ClassVar[str]

    templates: ArcTemplates

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    @abstractmethod
    def scores(self, weights: Floats, batch: ArcBatch) -> Floats:
        """The scores of all arcs of a batch under a weight vector [size], by cell, then of its pairs."""

    @abstractmethod
    def scorer(self, weights: Floats, gradient: Floats, threshold: float) -> ArcScorer:
        """A scorer that adds gradients to `gradient` [size], and may leave out arcs whose derivative does not exceed
        the threshold."""

    def touched(self) -> Callable[[ArcBatch], Blocks]:
        """A function from batches to the weights that they can touch, by default all: blocks start[i] .. stop[i] - 1 of
        the vector."""
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
        low, high = encoded.position_ptr[first], encoded.position_ptr[last]
        ptr = encoded.position_ptr[first : last + 1]
        codes = np.empty((high - low, len(seeds)), np.uint64)
        arcs.side_codes(encoded.columns, ptr, terms, seeds, codes)
        cells = encoded.cells(first, last)
        paths = np.empty(int(cells[-1]) if self.templates.guide else 0, np.uint8)
        if self.templates.guide:
            tree_paths(encoded.guide, ptr, paths)
        lengths = np.diff(ptr) - 1
        pairs = np.where(lengths <= _LONGEST, lengths * (lengths + 1) * (lengths + 2) // 3, 0)
        pair_ptr = cells[-1] + pointers(pairs if self.templates.has_siblings else np.zeros_like(pairs))
        return ArcBatch(encoded, first, last, ptr - low, cells, pair_ptr, lengths, codes, paths)


def batch_bounds(encoded: EncodedArcs) -> Iterator[tuple[int, int]]:
    """first, last of batches of sentences with about `_BATCH_CELLS` arcs."""
    cells = encoded.cells(0, len(encoded))
    first = 0
    while first < len(encoded):
        last = int(np.searchsorted(cells, cells[first] + _BATCH_CELLS, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last
