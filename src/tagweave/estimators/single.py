"""Predicts single sentences fast, for `ChainCRF.predict_single`, with the arrays of the model prepared once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain, repeat
from math import isfinite
from typing import Any

import numpy as np

from tagweave.estimators.sequences import TokenSequence
from tagweave.features.attributes import AttributeEncoder
from tagweave.kernels.decode import best_sequences
from tagweave.kernels.emission import type_scores
from tagweave.models.chain import ChainModel

_VALUES = frozenset({str, bool, int, float})
_DICTS = frozenset({dict})
_MOST_PAIRS = 1 << 20
"""Items of dicts whose features are kept; then it starts over."""
_LISTS, _TEXT = frozenset({list, tuple}), frozenset({str})


class SingleSentences:
    """Labels sentences whose tokens are flat: dicts of strings and numbers, or lists of strings.

    Args:
        model: a model of attributes with one view.
    """

    def __init__(self, model: ChainModel) -> None:
        assert isinstance(model.encoder, AttributeEncoder)  # noqa: S101 - for the type checker: `ChainCRF` has no other
        self.model = model
        ((_, layout),), (weights,) = model.linear.weighted, model.linear.split(model.weights)
        t = model.transitions
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
            features = self._listed(list(chain.from_iterable(sentence)))
        elif _DICTS.issuperset(map(type, sentence)):
            features, values = self._paired(sentence)
        if features is None:
            return None
        has_values = values.count(1.0) + values.count(0.0) < len(values)  # what has the value 0 has no feature
        if has_values and not isfinite(sum(values)):
            return None
        ends = list(accumulate(map(len, sentence), initial=0))
        return self._best(len(sentence), ends, features, np.array(values, np.float64) if has_values else self._none)

    def _listed(self, names: list[Any]) -> list[int] | None:
        """The features of names, -1 for unknown ones; `None` if one is not a string."""
        if not _TEXT.issuperset(map(type, names)):
            return None
        return list(map(self._numbers.get, names, repeat(-1)))

    def _paired(self, sentence: list[Any]) -> tuple[list[int] | None, list[float]]:
        """The features of the items of dicts, -1 for unknown ones, and their values if any is not 0 or 1.

        `None` if an item is not a string or number. Items are kept, since joining a name and a string takes longer than
        looking up the pair.
        """
        try:
            found = list(map(self._pairs.get, chain.from_iterable(map(dict.items, sentence))))
        except TypeError:  # a list or dict in it
            return None, []
        if None not in found:
            return found, []  # type: ignore[return-value]
        items = list(chain.from_iterable(map(dict.items, sentence)))
        whole = [self._number(*item) if number is None else number for item, number in zip(items, found, strict=True)]
        if None in whole:
            return None, []
        return whole, [1.0 if isinstance(value, str) else value for _, value in items]  # type: ignore[return-value]

    def _number(self, name: Any, value: Any) -> int | None:
        """The feature of an item, -1 for an unknown one or the value 0; `None` if it is not flat.

        It is kept unless its value matters.
        """
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
