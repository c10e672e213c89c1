"""What a model of label sequences prefers in one sequence to another, feature by feature.

    score(y) - score(y') = sum over tokens, features and views of value * (w[feature, y_t] - w[feature, y'_t])
                         + the same of transitions, first and last labels, and of a network

Scores are sums, so the contributions are exact. The other sequence is the best one without what is to be explained:
decoding under evidence that excludes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.explanation.explanation import Contribution, ExplanationError
from tagweave.features.encoded import Encoded
from tagweave.features.feature_names import FeatureNames, NamedFeature
from tagweave.labels.space import View
from tagweave.labels.spans import SpanRules
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import Layout
from tagweave.models.scorer import Floats

Labels = NDArray[np.int32]


class Contrast:
    """Contrasts label sequences [L] of one sentence under a model."""

    def __init__(self, model: ChainModel, names: FeatureNames) -> None:
        self.model, self.names, self.encoded = model, names, names.encoded
        self._linear = model.features
        self._vector = model.weights[: self._linear.size]

    @cached_property
    def best(self) -> Labels:
        return self.model.best(self.encoded)

    def runner_up(self, view: View, start: int, stop: int, is_span: bool) -> Labels:
        """Return the best labels among those that differ from the best ones, under a view, in tokens start .. stop - 1.

        With `is_span`, also among those that go on with the span. Each way to differ is a copy of the sentence, whose
        evidence excludes labels of one token. Raises ExplanationError if there is none.
        """
        tags = view.projection
        allowed = [(token, tags != tags[self.best[token]]) for token in range(start, stop)]
        if is_span and stop < len(self.best):
            allowed.append((stop, SpanRules(view.names).joins[tags[self.best[stop - 1]]][tags]))
        allowed = [(token, labels) for token, labels in allowed if labels.any()]
        sets = np.zeros((len(allowed), len(self.best)), np.int32)
        sets[np.arange(len(allowed)), [token for token, _ in allowed]] = 1 + np.arange(len(allowed))
        masks = np.array([np.ones(len(tags)), *(labels for _, labels in allowed)], np.uint8)
        answers = self.model.best(self._copies(len(allowed)).with_evidence(sets.reshape(-1)), masks)
        answers = answers.reshape(sets.shape)[(answers.reshape(sets.shape) >= 0).all(axis=1)]
        if not len(answers):
            raise ExplanationError(f"found one label alone for {self.names.sentence.forms[start]!r}, expected a choice")
        scores = self.model.sequence_scores(self._copies(len(answers)), answers.reshape(-1))
        best: Labels = answers[scores.argmax()]
        return best

    def _copies(self, count: int) -> Encoded:
        return self.encoded.take(np.zeros(count, np.int64))

    def difference(self, one: Labels, two: Labels) -> tuple[list[Contribution], dict[str, float]]:
        """Return what makes the score of one sequence higher than that of another, the most first, and sums by view."""
        parts, by_view = list(self._of_network(one, two)), {}
        for (view, layout), weights in zip(self._linear.weighted, self._linear.split(self._vector), strict=True):
            pair = view.projection[one], view.projection[two]
            of_view = list(self._of_features(view, layout, weights.emission, *pair))
            of_view += self._of_transitions(view, weights, *pair)
            by_view[view.guideline] = sum(contribution.score for contribution in of_view)
            parts += of_view
        groups: defaultdict[tuple[str, int], list[Contribution]] = defaultdict(list)  # of views, of a vector's numbers
        for contribution in parts:
            groups[contribution.name, contribution.token].append(contribution)
        summed = []
        for group in groups.values():
            feature = group[0].feature if len({contribution.feature for contribution in group}) == 1 else -1
            summed.append(replace(group[0], score=sum(contribution.score for contribution in group), feature=feature))
        return sorted(summed, key=lambda contribution: -contribution.score), by_view if len(by_view) > 1 else {}

    def _of_features(
        self, view: View, layout: Layout, weights: Floats, one: Labels, two: Labels
    ) -> Iterator[Contribution]:
        for token in np.flatnonzero(one != two).tolist():
            for named in self.names.at(token):
                here, there = (_weight(layout, weights, view, named, int(labels[token])) for labels in (one, two))
                yield Contribution(named.name, token, named.value * (here - there), named.feature, named.position)

    def _of_transitions(self, view: View, weights: Any, one: Labels, two: Labels) -> Iterator[Contribution]:
        """Yield the contributions of pairs of labels, of the first label and of the last."""

        def of(what: str, token: int, table: Floats, *tokens: int) -> Iterator[Contribution]:
            here, there = (tuple(labels[list(tokens)].tolist()) for labels in (one, two))
            if here != there:
                texts = (" ".join(view.names[tag] for tag in tags) for tags in (here, there))
                yield Contribution(f"{what} {', not '.join(texts)}", token, float(table[here]) - float(table[there]))

        last = len(one) - 1
        for token in range(1, len(one)) if self._linear.transitions else ():
            changed = token if one[token] != two[token] else token - 1
            yield from of("transition", changed, weights.transition, token - 1, token)
        if self._linear.edges:
            yield from of("first label", 0, weights.start, 0)
            yield from of("last label", last, weights.end, last)

    def _of_network(self, one: Labels, two: Labels) -> Iterator[Contribution]:
        if self.model.parameters.has_network:
            differences = _differences(self._of_whole, one, two)[0]
            for token in np.flatnonzero(one != two).tolist():
                yield Contribution("network", token, float(differences[token]))

    def _network_scores(self, encoded: Encoded) -> Floats:
        """Return float64[S, L, Y]: what the network adds to the scores of labels in each copy of the sentence."""
        scorings = self.model.scoring, self._linear.scoring(self._vector)
        total, linear = (scoring.scores(encoded, 0, len(encoded)).emission.astype(np.float64) for scoring in scorings)
        table: Floats = (total - linear).reshape(len(encoded), len(self.best), -1)
        return table

    def occlusions(self, one: Labels, two: Labels) -> list[tuple[int, float]]:
        """Return how much of the network's part in the difference each token takes away with it, the most first."""
        if self.model.encoder.subwords is None:
            return []
        whole, hidden = (_differences(table, one, two).sum(axis=1) for table in (self._of_whole, self._of_occluded))
        return sorted(enumerate((whole - hidden).tolist()), key=lambda change: -abs(change[1]))

    @cached_property
    def _of_whole(self) -> Floats:
        return self._network_scores(self.encoded)

    @cached_property
    def _of_occluded(self) -> Floats:
        """The scores of the network in a copy of the sentence for each token, [L, L, Y].

        It reads the piece for unknown words in place of the token.
        """
        subwords, encoded, tokens = self.model.encoder.subwords, self._copies(len(self.best)), np.arange(len(self.best))
        assert subwords is not None  # noqa: S101 - else nothing can be hidden
        word_types = encoded.word_types.reshape(-1, len(tokens)).copy()
        word_types[tokens, tokens] = len(encoded.type_ptr) - 1  # one more, without features
        pieces = np.append(encoded.pieces, np.int32(subwords.unknown))
        encoded = replace(
            encoded,
            word_types=word_types.reshape(-1),
            type_ptr=np.append(encoded.type_ptr, encoded.type_ptr[-1]),
            piece_ptr=np.append(encoded.piece_ptr, len(pieces)),
            pieces=pieces,
        )
        return self._network_scores(encoded)


def _differences(table: Floats, one: Labels, two: Labels) -> Floats:
    """Return how much more a table of scores [S, L, Y] gives the first labels, [S, L]."""
    tokens = np.arange(len(one))
    differences: Floats = table[:, tokens, one] - table[:, tokens, two]
    return differences


def _weight(layout: Layout, weights: Floats, view: View, named: NamedFeature, tag: int) -> float:
    """Return the weight of a feature with a tag; 0 if it has none."""
    first, last = int(layout.ptr[named.feature]), int(layout.ptr[named.feature + 1])
    cell = named.position * len(view.names) + tag
    if not len(layout.cell):
        return float(weights[first + cell])
    return float(weights[first:last][layout.cell[first:last] == cell].sum())
