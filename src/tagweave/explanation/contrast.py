"""What a model of label sequences prefers in one sequence to another, feature by feature.

    score(y) - score(y') = sum over tokens, features and views of value * (w[feature, y_t] - w[feature, y'_t])
                         + the same of transitions, first and last labels, and of a network

Scores are sums, so the contributions are exact, and add up to the difference. The other sequence is the best one
without what is to be explained: decoding under evidence that excludes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import TagweaveError
from tagweave.features.encoded import Encoded
from tagweave.features.feature_names import FeatureNames, NamedFeature
from tagweave.labels.space import View
from tagweave.labels.spans import SpanRules
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.scorer import Floats

Labels = NDArray[np.int32]
_VIEWS = 2  # of a model of several guidelines, at least


class ExplanationError(TagweaveError):
    """Something that cannot be explained."""


class Contribution(NamedTuple):
    """What speaks for one label sequence at a token, and how much it adds to the difference of the scores."""

    name: str
    token: int
    score: float
    feature: int = -1  # its number and position (`NamedFeature`), of a feature that is not the number of a vector
    position: int = 0


@dataclass(frozen=True)
class Difference:
    """The difference of two scores.

    Attributes:
        contributions: what sums to it, the highest first.
        by_guideline: the same sum for each view of the labels, if a model has several.
        tokens: where the answers differ.
    """

    contributions: tuple[Contribution, ...]
    by_guideline: dict[str, float]
    tokens: tuple[int, ...]

    @property
    def score(self) -> float:
        return sum(contribution.score for contribution in self.contributions)


class Contrast:
    """Contrasts label sequences [L] of one sentence under a model."""

    def __init__(self, model: ChainModel, names: FeatureNames) -> None:
        self.model, self.names, self.encoded = model, names, names.encoded
        parameters: Any = model.parameters
        self._linear: ChainParameters = parameters.linear if parameters.has_network else model.linear
        self._weights = self._linear.split(model.weights[: self._linear.size])

    @cached_property
    def best(self) -> Labels:
        return self.model.best(self.encoded)

    def runner_up(self, view: View, start: int, stop: int, is_span: bool = False) -> Labels:
        """Return the best labels among those that differ from the best ones, under a view, in tokens start .. stop - 1.

        With `is_span`, also among those that go on with the span. Each way to differ is an own copy of the sentence,
        whose evidence excludes labels of one token.

        Raises:
            ExplanationError: the model has no other labels for them.
        """
        tags = view.projection
        allowed = [(token, tags != tags[self.best[token]]) for token in range(start, stop)]
        if is_span and stop < len(self.best):
            joins = SpanRules(view.names).joins[tags[self.best[stop - 1]]]
            allowed.append((stop, joins[tags]))
        masks = np.ones((1 + len(allowed), len(tags)), np.uint8)
        sets = np.zeros((len(allowed), len(self.best)), np.int32)
        for number, (token, labels) in enumerate(allowed):
            masks[1 + number] = labels
            sets[number, token] = 1 + number
        possible = masks[1:].any(axis=1)
        copies = self._copies(int(possible.sum())).with_evidence(sets[possible].reshape(-1))
        answers = self.model.best(copies, masks)
        is_answer = answers.reshape(-1, len(self.best)).min(axis=1) >= 0
        answers = answers.reshape(-1, len(self.best))[is_answer]
        if not len(answers):
            raise ExplanationError(f"found one label alone for {self.names.sentence.forms[start]!r}, expected a choice")
        scores = self.model.sequence_scores(self._copies(len(answers)), answers.reshape(-1))
        best: Labels = answers[scores.argmax()]
        return best

    def _copies(self, count: int) -> Encoded:
        return self.encoded.take(np.zeros(count, np.int64))

    def difference(self, one: Labels, two: Labels) -> Difference:
        """Return what makes the score of one sequence higher, or lower, than that of another."""
        parts = list(self._of_network(one, two))
        by_view = {}
        for (view, layout), weights in zip(self._linear.weighted, self._weights, strict=True):
            pair = view.projection[one], view.projection[two]
            of_view = [*self._of_features(view, layout, weights.emission, *pair)]
            of_view += self._of_transitions(view, weights, *pair)
            by_view[view.guideline] = float(sum(part.score for part in of_view))
            parts += of_view
        sums: defaultdict[tuple[str, int], float] = defaultdict(float)  # over views, and the numbers of a vector
        places: dict[tuple[str, int], tuple[int, int]] = {}
        for name, token, score, feature, position in parts:
            sums[name, token] += score
            is_one = places.setdefault((name, token), (feature, position)) == (feature, position)
            places[name, token] = (feature, position) if is_one else (-1, 0)
        contributions = (Contribution(*key, score, *places[key]) for key, score in sums.items())
        ordered = sorted(contributions, key=lambda contribution: -contribution.score)
        tokens = tuple(np.flatnonzero(one != two).tolist())
        return Difference(tuple(ordered), by_view if len(by_view) >= _VIEWS else {}, tokens)

    def _of_features(
        self, view: View, layout: Layout, weights: Floats, one: Labels, two: Labels
    ) -> Iterator[Contribution]:
        tags = len(view.names)
        for token in np.flatnonzero(one != two).tolist():
            for named in self.names.at(token):
                pair = [_weight(layout, weights, tags, named, int(labels[token])) for labels in (one, two)]
                yield Contribution(named.name, token, named.value * (pair[0] - pair[1]), named.feature, named.position)

    def _of_transitions(self, view: View, weights: Any, one: Labels, two: Labels) -> Iterator[Contribution]:
        """Yield the contributions of pairs of labels, of the first label and of the last."""
        names, last = view.names, len(one) - 1
        for token in range(len(one) if self._linear.transitions else 0):
            pairs = [(int(labels[token - 1]), int(labels[token])) for labels in (one, two)]
            if token and pairs[0] != pairs[1]:
                score = float(weights.transition[pairs[0]]) - float(weights.transition[pairs[1]])
                texts = [f"{names[before]} {names[label]}" for before, label in pairs]
                yield Contribution(f"transition {texts[0]}, not {texts[1]}", token, score)
        for what, token in (("first", 0), ("last", last)) if self._linear.edges else ():
            labels = int(one[token]), int(two[token])
            if labels[0] != labels[1]:
                edge = weights.start if what == "first" else weights.end
                name = f"{what} label {names[labels[0]]}, not {names[labels[1]]}"
                yield Contribution(name, token, float(edge[labels[0]]) - float(edge[labels[1]]))

    def _of_network(self, one: Labels, two: Labels) -> Iterator[Contribution]:
        if self.model.parameters.has_network:
            differences = self._network_scores(self.encoded, one, two)[0]
            for token in np.flatnonzero(one != two).tolist():
                yield Contribution("network", token, float(differences[token]))

    def _network_scores(self, encoded: Encoded, one: Labels, two: Labels) -> Floats:
        """Return float64[S, L]: by copy of the sentence, how much more the network gives the labels of one sequence."""
        scores, linear = (
            scoring.scores(encoded, 0, len(encoded)).emission.astype(np.float64)
            for scoring in (self.model.scoring, self._linear.scoring(self.model.weights[: self._linear.size]))
        )
        table = (scores - linear).reshape(len(encoded), len(one), -1)
        tokens = np.arange(len(one))
        differences: Floats = table[:, tokens, one] - table[:, tokens, two]
        return differences

    def occlusions(self, one: Labels, two: Labels) -> list[tuple[int, float]]:
        """Return how much of the network's part in the difference each token takes away with it, the most first.

        In a copy of the sentence for each token, the network reads the piece for unknown words in its place.
        """
        subwords = self.model.encoder.subwords
        if not self.model.parameters.has_network or subwords is None:
            return []
        encoded, length = self._copies(len(one) + 1), len(one)
        hidden = len(encoded.type_ptr) - 1  # a word type more, without features
        word_types = encoded.word_types.reshape(-1, length).copy()
        word_types[np.arange(length), np.arange(length)] = hidden
        pieces = np.append(encoded.pieces, np.int32(subwords.unknown))
        encoded = replace(
            encoded,
            word_types=word_types.reshape(-1),
            type_ptr=np.append(encoded.type_ptr, encoded.type_ptr[-1]),
            piece_ptr=np.append(encoded.piece_ptr, len(pieces)),
            pieces=pieces,
        )
        totals = self._network_scores(encoded, one, two).sum(axis=1)
        changes = enumerate((totals[-1] - totals[:-1]).tolist())
        return sorted(changes, key=lambda change: -abs(change[1]))


def _weight(layout: Layout, weights: Floats, tags: int, named: NamedFeature, tag: int) -> float:
    """Return the weight of a feature with a tag; 0 if it has none."""
    first, last = int(layout.ptr[named.feature]), int(layout.ptr[named.feature + 1])
    cell = named.position * tags + tag
    if not len(layout.cell):
        return float(weights[first + cell])
    at = np.flatnonzero(layout.cell[first:last] == cell)
    return float(weights[first + int(at[0])]) if len(at) else 0.0
