"""The relations of arcs, a second stage (McDonald et al. 2006): one log-linear classifier over the arcs of a tree.

    score(y | h, m) = sum_t W[row_t(h, m), y]

Since the tree is known, features may look at the neighbours of an arc in it (`RelationTemplates`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.trees import RelationEvidence
from tagweave.features.arc_templates import RELATION_SIDES, RelationTemplates
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.kernels import arc_features, arcs
from tagweave.models.batches import drawn
from tagweave.models.scorer import Blocks, Floats
from tagweave.structures.loss import loss
from tagweave.structures.tree import Independent

_ARCS = 4096  # arcs whose scores are held at a time


@dataclass(frozen=True)
class ArcLabels:
    """Relations and the weights of their features."""

    templates: RelationTemplates  # the templates of relations
    names: tuple[str, ...]  # the Y relations
    weights: Floats  # float[rows, Y]; the number of rows is a power of two

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
        known = (evidence.allowed < 1).any(axis=1)
        self._features, self._evidence = features[known], evidence.take(known)
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
