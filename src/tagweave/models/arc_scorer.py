"""Base classes of scorers of arcs, and the linear one: sums of weights of template features, hashed into a table.

Another scorer of arcs is a file with a subclass of `ArcParameters` and one of `ArcScoring`, and a line in `ARC_SCORERS`
(`tree`).

The relations of arcs are a second stage (McDonald et al. 2006): one log-linear classifier over the arcs of a tree.

    score(y | h, m) = sum_t W[row_t(h, m), y]

Since the tree is known, features may look at the neighbours of an arc in it (`RelationTemplates`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.trees import RelationEvidence
from tagweave.features.arc_templates import RELATION_SIDES, ArcTemplates, RelationTemplates
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.kernels import arc_features, arcs
from tagweave.models.batches import batch_bounds, drawn
from tagweave.models.schema import Rows, TreeDescription, check_power_of_two
from tagweave.models.scorer import Blocks, Floats, Parameters
from tagweave.structures.loss import loss
from tagweave.structures.tree import Independent, TreeBatch, add_trees, layout

_ARCS = 4096  # arcs whose relations are scored at a time


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


class ArcScoring(ABC):
    """The scores of arcs under a weight vector, shared by threads."""

    @abstractmethod
    def scores(self, batch: ArcBatch) -> Floats:
        """Return the scores of all arcs of a batch, by cell, then of its pairs of siblings."""

    @abstractmethod
    def add_gradient(
        self, batch: ArcBatch, d_scores: Floats, gradient: Floats, threshold: float = 0.0
    ) -> Blocks | None:
        """Add the gradient of the weights, given the gradient of the scores; those below the threshold may be skipped.

        Return the parts of `gradient` that were 0 before; `None` if unknown.
        """


class CalibratedArcScoring(ArcScoring):
    """The scores of another scoring divided by a temperature, for probabilities alone."""

    def __init__(self, scoring: ArcScoring, temperature: float) -> None:
        self._scoring, self._temperature = scoring, temperature

    def scores(self, batch: ArcBatch) -> Floats:
        scores = self._scoring.scores(batch)
        scores /= self._temperature
        return scores

    def add_gradient(
        self, batch: ArcBatch, d_scores: Floats, gradient: Floats, threshold: float = 0.0
    ) -> Blocks | None:
        return self._scoring.add_gradient(batch, d_scores / self._temperature, gradient, threshold)


class ArcParameters(Parameters):
    """The parameters of a scorer of arcs."""

    templates: ArcTemplates  # the features that sentences are encoded by

    @abstractmethod
    def scoring(self, weights: Floats) -> ArcScoring:
        """Return the scores under a weight vector [size]."""

    def touched(self) -> Callable[[ArcBatch], Blocks]:
        """Return a function from a batch to the weights that it can touch."""
        every = np.array([0]), np.array([self.size])
        return lambda batch: every

    @classmethod
    @abstractmethod
    def of_parts(cls, description: Any, templates: ArcTemplates) -> ArcParameters:
        """The parameters whose `to_json`, which follows the rules, this is."""

    def batch(self, encoded: EncodedArcs, first: int, last: int) -> ArcBatch:
        """Return sentences first .. last - 1 with the hashed sides of their arcs."""
        terms, seeds = self.templates.codes
        evidence, ptr = encoded.evidence.part(first, last), encoded.position_ptr[first : last + 1]
        codes = np.empty((int(ptr[-1] - ptr[0]), len(seeds)), np.uint64)
        arcs.side_codes(encoded.columns, ptr, terms, seeds, codes)
        cells, pair_ptr = layout(evidence, self.templates.has_siblings)
        paths = np.empty(int(cells[-1]) if self.templates.guide else 0, np.uint8)
        if self.templates.guide:
            arcs.tree_paths(encoded.guide, ptr, paths)
        return ArcBatch(evidence, cells, pair_ptr, first, last, codes, paths)

    def count(self, encoded: EncodedArcs, heads: NDArray[np.int32], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how often the features of each row occur at the arcs of trees, int64[R].

        Args:
            heads: int32[N], whole trees; -1 where there is none.
            counted: bool[N], the tokens whose arcs count.
        """
        counts = np.zeros(self.size, np.float32)
        scoring, ptr = self.scoring(counts), encoded.token_ptr
        for first, last in batch_bounds(encoded):
            batch, tokens = self.batch(encoded, first, last), slice(ptr[first], ptr[last])
            occurs = np.zeros(batch.size, np.float32)
            add_trees(occurs, batch, np.maximum(heads[tokens], 0), counted[tokens])
            scoring.add_gradient(batch, occurs, counts)
        return np.asarray(counts.reshape(-1, arcs.BINS).max(axis=1), np.int64)


class ArcDescription(TreeDescription):
    """A parser with a linear scorer of arcs."""

    rows: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        check_power_of_two(self.rows, "rows")


@dataclass(frozen=True)
class ArcFeatures(ArcParameters):
    """The parameters of the linear scorer: templates, and a power of two of rows to which features are hashed."""

    kind: ClassVar[str] = "linear"
    schema: ClassVar[type[ArcDescription]] = ArcDescription

    templates: ArcTemplates
    rows: int

    @property
    def size(self) -> int:
        # rows of pairs of siblings stand behind those of arcs: fewer, since their features are mostly of tags
        of_pairs = max(1, self.rows // 4) if self.templates.has_siblings else 0
        return (self.rows + of_pairs) * arcs.BINS

    def scoring(self, weights: Floats) -> LinearArcScoring:
        return LinearArcScoring(self, weights)

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
                more = arc_features.touched_pair_rows(*self.pairs(batch), of_pairs, calls)
                rows = np.concatenate([rows, self.rows + more])
            return rows * arcs.BINS, (rows + 1) * arcs.BINS

        return touched_in

    def tables(self, vector: Floats) -> tuple[Floats, Floats]:
        """Return the rows of arcs and of pairs in a vector of all weights."""
        table = vector.reshape(-1, arcs.BINS)
        return table[: self.rows], table[self.rows :]

    def pairs(self, batch: ArcBatch) -> tuple[Any, ...]:
        """Return the arguments of the kernels of pairs of siblings."""
        templates = self.templates
        return batch.codes, templates.first_of_siblings, templates.sibling_sizes, batch.ptr, batch.pair_ptr

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows}

    @classmethod
    def of_parts(cls, description: ArcDescription, templates: ArcTemplates) -> ArcFeatures:
        return cls(templates, description.rows)


@dataclass(frozen=True)
class LinearArcScoring(ArcScoring):
    """The scores of arcs under weights [size]."""

    features: ArcFeatures
    weights: Floats

    def scores(self, batch: ArcBatch) -> Floats:
        features, scores = self.features, np.empty(batch.size, self.weights.dtype)
        of_arcs, of_pairs = features.tables(self.weights)
        arcs.score_arcs(of_arcs, batch.codes, features.templates.sizes, batch.ptr, batch.paths, scores)
        if len(of_pairs):
            arc_features.score_pairs(of_pairs, *features.pairs(batch), scores)
        return scores

    def add_gradient(self, batch: ArcBatch, d_scores: Floats, gradient: Floats, threshold: float = 0.0) -> Blocks:
        features, (of_arcs, of_pairs) = self.features, self.features.tables(gradient)
        arc_arguments = batch.codes, features.templates.sizes, batch.ptr, batch.paths
        rows: NDArray[np.int64] = arcs.add_arc_gradient(of_arcs, *arc_arguments, d_scores, threshold)
        if len(of_pairs):
            more = arc_features.add_pair_gradient(of_pairs, *features.pairs(batch), d_scores, threshold)
            rows = np.concatenate([rows, features.rows + more])
        return rows * arcs.BINS, (rows + 1) * arcs.BINS


@dataclass(frozen=True)
class ArcLabels:
    """Relations and the weights of their features."""

    templates: RelationTemplates  # the templates of relations
    names: tuple[str, ...]  # the Y relations
    weights: Floats  # float[rows, Y]; the number of rows is a power of two
    # uint8[rows], as of `TreeModel`
    occurrences: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    def to_json(self) -> dict[str, Any]:
        return {
            "relations": list(self.names),
            "relation_rows": len(self.weights),
            "relation_templates": list(self.templates.texts),
        }

    def best(
        self, encoded: EncodedArcs, heads: NDArray[np.int32], allowed: NDArray[Any] | None = None
    ) -> NDArray[np.int32]:
        """int32[N]: the best relation of every token to its head under the evidence [N, Y] (`allowed_labels`)."""
        features = arc_rows(self.templates, encoded, heads, len(self.weights))
        scores = relation_scores(self.weights, features)
        if allowed is not None:
            with np.errstate(divide="ignore"):
                scores += np.log(allowed, dtype=scores.dtype)
        return np.asarray(scores.argmax(axis=1), np.int32)


def arc_rows(
    templates: RelationTemplates, encoded: EncodedArcs, heads: NDArray[np.int32], rows: int
) -> NDArray[np.int32]:
    """int32[N, F]: the rows of weights for the arc of every token to its head; head 0 is the root."""
    terms, seeds = templates.codes
    codes: NDArray[np.uint64] = np.empty((len(encoded.columns), len(seeds)), np.uint64)
    numbers = np.array([*map(encoded.names.index, templates.columns), -1], np.int64)  # of the columns encoded
    terms = np.stack([numbers[terms[:, :, 0]], terms[:, :, 1]], axis=2)
    arcs.side_codes(encoded.columns, encoded.position_ptr, terms, seeds, codes)
    places = np.empty((len(heads), len(RELATION_SIDES)), np.int32)
    arc_features.tree_places(encoded.position_ptr, heads, places)
    features = np.empty((len(heads), len(templates.parsed)), np.int32)
    arc_features.relation_features(codes, *templates.grams, places, rows, features)
    return features


def relation_scores(weights: Floats, features: NDArray[np.int32]) -> Floats:
    """float[A, Y]: the scores of all relations of arcs, from weights float[rows, Y] and their rows int32[A, F]."""
    scores = np.empty((len(features), weights.shape[1]), weights.dtype)
    arc_features.score_labels(weights, features, scores)
    return scores


class LabelObjective:
    """The loss of a classifier of arcs, by rows of weights [A, F]; arcs of unknown relation are left out."""

    threads = 1
    dtype = np.float32

    def __init__(self, features: NDArray[np.int32], evidence: RelationEvidence, rows: int) -> None:
        has_relation = (evidence.allowed < 1).any(axis=1)
        self._features, self._evidence = features[has_relation], evidence.take(has_relation)
        self._rows, self._labels = rows, int(evidence.allowed.shape[1])

    @property
    def size(self) -> int:
        return self._rows * self._labels

    def __len__(self) -> int:
        return len(self._features)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        gradient = np.zeros(self.size, weights.dtype)
        starts = range(0, len(self), _ARCS)
        return sum(self.add_batch(weights, low, min(low + _ARCS, len(self)), gradient) for low in starts), gradient

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """Add the gradient of arcs first .. last - 1 to `gradient`; return their loss."""
        features = self._features[first:last]
        scores = relation_scores(weights.reshape(self._rows, -1), features)
        losses, d_scores = loss(Independent(), scores, self._evidence.take(slice(first, last)))
        arc_features.add_label_gradient(features, d_scores.astype(gradient.dtype), gradient.reshape(self._rows, -1))
        return float(losses.sum())

    def touched(self, first: int, last: int) -> Blocks:
        """Return the weights of all relations for the features of these arcs."""
        start = self._features[first:last].reshape(-1).astype(np.int64) * self._labels
        return start, start + self._labels

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """Return all arcs, in a random order that is a function of the arguments."""
        return drawn([np.arange(len(self), dtype=np.int64)], [len(self)], seed, iteration)

    def shuffled(self, order: NDArray[np.int64]) -> LabelObjective:
        return LabelObjective(self._features[order], self._evidence.take(order), self._rows)
