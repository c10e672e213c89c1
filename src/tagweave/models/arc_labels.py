"""The relations of arcs, a second stage (McDonald et al. 2006): one log-linear classifier over the arcs of a tree.

    score(y | h, m) = sum_t W[row_t(h, m), y]

Since the tree is known, features may look at the neighbours of an arc in it (`features.relation_templates`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arcs import EncodedArcs
from tagweave.features.relation_templates import RELATION_SIDES, RelationTemplates
from tagweave.kernels import arc_labels, arcs
from tagweave.models.mistakes import correct_mistakes
from tagweave.models.sampling import drawn
from tagweave.structures.independent import Independent, Positions
from tagweave.structures.loss import add_loss

Floats = NDArray[Any]
Codes = NDArray[np.uint64]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]

_ARCS = 4096  # arcs whose scores are held at a time


@dataclass(frozen=True)
class ArcLabels:
    """Relations and the weights of their features.

    Attributes:
        templates: the templates of relations.
        names: the Y relations.
        weights: float[rows, Y]; the number of rows is a power of two.
    """

    templates: RelationTemplates
    names: tuple[str, ...]
    weights: Floats

    def to_json(self) -> dict[str, Any]:
        """A plain description of all but the weights."""
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
    codes: Codes = np.empty((len(encoded.columns), len(seeds)), np.uint64)
    terms = encoded.renumber(terms, templates.columns)
    arcs.side_codes(encoded.columns, encoded.position_ptr, terms, seeds, codes)
    places = np.empty((len(heads), len(RELATION_SIDES)), np.int32)
    arc_labels.tree_places(encoded.position_ptr, heads, places)
    features = np.empty((len(heads), len(templates.parsed)), np.int32)
    arc_labels.relation_features(codes, *templates.grams, places, rows, features)
    return features


def relation_scores(weights: Floats, features: NDArray[np.int32]) -> Floats:
    """float[A, Y]: the scores of all relations of arcs, from weights float[rows, Y] and their rows int32[A, F]."""
    scores = np.empty((len(features), weights.shape[1]), weights.dtype)
    arc_labels.score_labels(weights, features, scores)
    return scores


class RelationScorer:
    """The scores of relations under weights float[rows, Y], and their gradient: a `Scorer`."""

    def __init__(self, weights: Floats, gradient: Floats) -> None:
        self._weights, self._gradient = weights, gradient

    def scores(self, batch: Positions) -> Floats:
        """See `Scorer.scores`: [A, Y]."""
        return relation_scores(self._weights, batch.features)

    def add_gradient(self, batch: Positions, d_scores: NDArray[np.float64]) -> None:
        """See `Scorer.add_gradient`."""
        arc_labels.add_label_gradient(batch.features, d_scores.astype(self._gradient.dtype), self._gradient)


class LabelObjective:
    """The loss of a classifier of arcs, for trainers. The sentences of `Objective` are arcs here.

    Args:
        features: int32[A, F], the rows of weights of every arc.
        allowed: [A, Y], the relations that the evidence allows, or their numbers (`models.relation_evidence`); arcs
            that allow all have loss 0 and are left out.
        weights: float64[A], how often an arc counts.
        rows: the number of rows of weights.
        noise: float64[A], the share of its potential that an excluded relation keeps; `None` or empty: 0.
        posterior: bool[A], whether the numbers of an arc are probabilities; `None`: none are.
    """

    threads = 1
    dtype = np.float32

    def __init__(
        self,
        features: NDArray[np.int32],
        allowed: NDArray[Any],
        weights: NDArray[np.float64],
        rows: int,
        noise: NDArray[np.float64] | None = None,
        posterior: NDArray[np.bool_] | None = None,
    ) -> None:
        known = (allowed < 1).any(axis=1)
        self._features, self._allowed, self._weights = features[known], allowed[known], weights[known]
        self._noise = np.zeros(len(self._features)) if noise is None or not len(noise) else noise[known]
        self._posterior = np.zeros(len(self._features), np.bool_) if posterior is None else posterior[known]
        self._rows, self._labels = rows, int(allowed.shape[1])

    @property
    def size(self) -> int:
        """The number of weights."""
        return self._rows * self._labels

    def __len__(self) -> int:
        return len(self._features)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The loss of all arcs, and its gradient."""
        gradient = np.zeros(self.size, weights.dtype)
        starts = range(0, len(self), _ARCS)
        return sum(self.add_batch(weights, low, min(low + _ARCS, len(self)), gradient) for low in starts), gradient

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """The loss of arcs first .. last - 1; adds its gradient to `gradient`."""
        of_batch = slice(first, last)
        evidence = self._allowed[of_batch], self._noise[of_batch], self._weights[of_batch]
        batch = Positions(self._features[of_batch], *evidence, self._posterior[of_batch])
        scorer = RelationScorer(weights.reshape(self._rows, -1), gradient.reshape(self._rows, -1))
        d_scores = np.zeros((last - first, self._labels))
        loss = add_loss(Independent(), scorer.scores(batch), batch, d_scores)
        scorer.add_gradient(batch, d_scores)
        return loss

    def add_mistakes(self, weights: Floats, first: int, last: int, gradient: Floats) -> int:
        """Adds features(best relation) - features(best allowed relation) for each arc whose best one is not allowed."""
        shape = self._rows, self._labels
        of_batch = slice(first, last)
        parts = self._features[of_batch], self._allowed[of_batch], self._weights[of_batch]
        return int(arc_labels.add_label_mistakes(weights.reshape(shape), *parts, gradient.reshape(shape)))

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """Perceptron steps of `batch` arcs each over arcs first .. last - 1. Returns the number of mistakes."""
        return correct_mistakes(self, weights, totals, first, last, batch, step)

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """As `Objective`, of an arc."""
        shape, one = (self._rows, self._labels), slice(sentence, sentence + 1)
        parts = self._features[one], self._allowed[one], np.ones(1)
        weight = float(self._weights[sentence])
        if weight <= 0:
            return 0, weight
        return int(arc_labels.add_label_mistakes(weights.reshape(shape), *parts, gradient.reshape(shape))), weight

    def touched(self, first: int, last: int) -> Blocks:
        """The weights of all relations for the features of these arcs."""
        start = self._features[first:last].reshape(-1).astype(np.int64) * self._labels
        return start, start + self._labels

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """All arcs, in a random order that is a function of the arguments."""
        return drawn([np.arange(len(self), dtype=np.int64)], [len(self)], seed, iteration)

    def shuffled(self, order: NDArray[np.int64]) -> LabelObjective:
        """The same objective over the arcs in another order."""
        features, allowed, weights = self._features[order], self._allowed[order], self._weights[order]
        return LabelObjective(features, allowed, weights, self._rows, self._noise[order], self._posterior[order])
