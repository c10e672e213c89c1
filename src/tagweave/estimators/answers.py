"""Predictions and weights of a model by the names of labels; single sentences fast, for `predict_single`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise, repeat
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Layer
from tagweave.estimators.sequences import TokenSequence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.kernels.decode import best_sequences
from tagweave.kernels.weight_vectors import type_scores
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import UnknownLabelError
from tagweave.models.chain import ChainModel

GUIDELINE = "label"
"""The name of the only view of the models."""


def encode(model: ChainModel, sentences: Sequence[TokenSequence]) -> Encoded:
    """Encode sentences without evidence."""
    assert isinstance(model.encoder, AttributeEncoder)  # noqa: S101 - for the type checker: `ChainCRF` has no other
    return finite(model.encoder.encode_attributes(sentences), model.encoder)


def finite(encoded: Encoded, encoder: AttributeEncoder) -> Encoded:
    """Return the sentences. Raise ValueError if a feature value is nan or infinite: it would spread to every weight."""
    strange = np.flatnonzero(~np.isfinite(encoded.type_values))
    if len(strange):
        number = int(encoded.type_features[strange[0]])
        which = repr(encoder.names[number]) if number >= 0 else "that the model does not know"
        value = encoded.type_values[strange[0]]
        raise ValueError(f"the value {value} of an attribute, {which}: found nan or infinite, expected a finite number")
    return encoded


def evidence(model: ChainModel, encoded: Encoded, layers: Sequence[Layer]) -> tuple[Encoded, NDArray[np.uint8]]:
    """Add evidence of layers; also return the label sets, uint8[sets, Y]. Raises UnknownLabelError."""
    sets = LabelSets(model.space)
    numbers = [allowed(layer, sets) for layer in layers]
    return encoded.with_evidence(np.concatenate([np.zeros(0, np.int32), *numbers])), sets.masks


def allowed(layer: Layer, sets: LabelSets) -> NDArray[np.int32]:
    """int32[T]: the number of the label set of each position. Names are taken literally. Raises UnknownLabelError."""
    number = sets.space.views[0].number
    for name in {name for candidates in set(layer) for name in candidates or ()} - number.keys():
        raise UnknownLabelError(f"found the label {name!r}, expected labels of the model: {' '.join(number)}")
    return np.array([sets.of_candidates(GUIDELINE, candidates) for candidates in layer], np.int32)


def state_weights(model: ChainModel) -> dict[tuple[str, str], float]:
    """The nonzero weights by (attribute, label)."""
    ((_, layout),), labels = model.linear.weighted, model.space.names
    (weights,) = model.linear.split(model.weights)
    names = model.encoder.names if isinstance(model.encoder, AttributeEncoder) else []
    features = np.repeat(np.arange(len(names)), np.diff(layout.ptr))
    cells = layout.cell if len(layout.cell) else np.arange(layout.size) % len(labels)
    kept = np.flatnonzero(weights.emission)
    rows = zip(features[kept].tolist(), cells[kept].tolist(), weights.emission[kept].tolist(), strict=True)
    return {(names[feature], labels[label]): value for feature, label, value in rows}


def transition_weights(model: ChainModel) -> dict[tuple[str, str], float]:
    """The nonzero weights by (label, next label)."""
    names = model.space.names
    (weights,) = model.linear.split(model.weights)
    rows, columns = np.nonzero(weights.transition)
    values = weights.transition[rows, columns].tolist()
    return {(names[i], names[j]): value for i, j, value in zip(rows, columns, values, strict=True)}


_VALUES = frozenset({str, bool, int, float})
_DICTS = frozenset({dict})
_MOST_PAIRS = 1 << 20
"""Items of dicts whose features are kept; then it starts over."""
_LISTS, _TEXT = frozenset({list, tuple}), frozenset({str})


class SingleSentences:
    """Labels sentences whose tokens are flat: dicts of strings and numbers, or lists of strings."""

    def __init__(self, model: ChainModel) -> None:
        assert isinstance(model.encoder, AttributeEncoder)  # noqa: S101 - for the type checker: `ChainCRF` has no other
        self.model = model
        ((_, layout),), (weights,) = model.linear.weighted, model.linear.split(model.weights)
        t = model.scoring.transitions
        self._numbers: Mapping[str, int] = model.encoder.numbers
        self._emission = weights.emission, layout.ptr, layout.cell
        self._transitions = t.score, t.transposed_score, t.bounds, t.start_score, t.end_score
        self._names = model.space.names
        self._none = np.zeros(0)
        self._pairs: dict[tuple[Any, Any], int] = {}

    def labels(self, sentence: TokenSequence) -> list[str] | None:
        """The best labels; `None` if a token is not flat, has bytes, or a value is not finite: then ask `predict`."""
        if type(sentence) is not list:
            return None
        features: list[int] | None = None
        values: list[float] = []
        if _LISTS.issuperset(map(type, sentence)):
            names = list(chain.from_iterable(sentence))
            if _TEXT.issuperset(map(type, names)):
                features = list(map(self._numbers.get, names, repeat(-1)))
        elif _DICTS.issuperset(map(type, sentence)):
            features, values = self._paired(sentence)
        if features is None:
            return None
        has_values = values.count(1.0) + values.count(0.0) < len(values)  # what has the value 0 has no feature
        if has_values and not isfinite(sum(values)):
            return None
        ends = list(accumulate(map(len, sentence), initial=0))
        return self._best(len(sentence), ends, features, np.array(values, np.float64) if has_values else self._none)

    def _paired(self, sentence: list[Any]) -> tuple[list[int] | None, list[float]]:
        """Return the features of the items of dicts, -1 for unknown ones, and their values if any is not 0 or 1.

        `None` if an item is not a string or number. Items are kept: joining a name and a string takes longer.
        """
        try:
            features = list(map(self._pairs.get, chain.from_iterable(map(dict.items, sentence))))
        except TypeError:  # a list or dict in it
            return None, []
        if None not in features:
            return features, []  # type: ignore[return-value]
        items = list(chain.from_iterable(map(dict.items, sentence)))
        completed = [
            self._number(*item) if number is None else number for item, number in zip(items, features, strict=True)
        ]
        if None in completed:
            return None, []
        return completed, [1.0 if isinstance(value, str) else value for _, value in items]  # type: ignore[return-value]

    def _number(self, name: Any, value: Any) -> int | None:
        """Return the feature of an item, -1 for an unknown one or the value 0; `None` if it is not flat."""
        if type(name) is not str or type(value) not in _VALUES:
            return None
        if len(self._pairs) >= _MOST_PAIRS:
            self._pairs.clear()
        number = self._numbers.get(f"{name}:{value}" if type(value) is str else name, -1) if value != 0 else -1
        if type(value) is str or value in (0, 1):
            self._pairs[name, value] = number
        return number

    def _best(self, length: int, ends: list[int], features: list[int], values: Any) -> list[str]:
        if length == 0:
            return []
        scores = np.empty((length, len(self._names)), self.model.weights.dtype)
        word_types, ptr = np.arange(length, dtype=np.int32), np.array(ends)
        type_scores(*self._emission, ptr, np.array(features, np.int32), values, word_types, scores)
        labels = np.empty(length, np.int32)
        best_sequences(scores, *self._transitions, np.array([0, length]), 0, 1, labels)
        names = self._names
        return [names[label] for label in labels.tolist()]


Item = TypeVar("Item")


def best_labels(
    model: ChainModel, encoded: Encoded, masks: NDArray[np.uint8] | None = None, threads: int = 1
) -> list[list[str]]:
    """The best label sequence of every sentence; with `masks`, the best that the evidence allows."""
    numbers = model.best(encoded, masks, threads).tolist()
    names = model.space.names
    return _by_sentence([names[number] for number in numbers], encoded)


def marginals(model: ChainModel, encoded: Encoded, threads: int = 1) -> list[list[dict[str, float]]]:
    """The probability of every label at every token, by sentence."""
    gamma, _ = model.marginals(encoded, None, threads)
    names = model.space.names
    return _by_sentence([dict(zip(names, row, strict=True)) for row in gamma.tolist()], encoded)


def k_best_labels(model: ChainModel, encoded: Encoded, k: int) -> list[list[tuple[list[str], float]]]:
    """The k best label sequences of every sentence, with their probabilities."""
    names, rankings = model.space.names, []
    _, log_z = model.marginals(encoded)
    for sentence in range(len(encoded)):
        sequences, scores = model.k_best(encoded, sentence, k)
        labels = [[names[number] for number in sequence] for sequence in sequences.tolist()]
        rankings.append(list(zip(labels, np.exp(scores - log_z[sentence]).tolist(), strict=True)))
    return rankings


def _by_sentence(tokens: list[Item], encoded: Encoded) -> list[list[Item]]:
    return [tokens[start:stop] for start, stop in pairwise(encoded.sentence_ptr.tolist())]
