"""Predicts single sentences fast, for `ChainCRF.predict_single`, with the arrays of the model prepared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from math import isfinite
from typing import Any

import numpy as np

from tagweave.estimators.sequences import TokenSequence
from tagweave.features.attributes import AttributeEncoder
from tagweave.kernels.decode import best_sequences
from tagweave.kernels.emission import type_scores
from tagweave.models.chain import ChainModel

_NUMBERS = {bool, int, float}


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

    def labels(self, sentence: TokenSequence) -> list[str] | None:
        """The best labels; `None` if a token is not flat, has bytes, or a value is not finite: then ask `predict`."""
        if type(sentence) is not list:
            return None
        features: list[int] = []
        values: list[float] = []
        ends = [0]
        for token in sentence:
            kind = type(token)
            if kind is list or kind is tuple:
                if bytes in map(type, token):
                    return None
                features.extend(map(self._numbers.get, map(str, token), repeat(-1)))
                values.extend([1.0] * (len(features) - len(values)))
            elif kind is not dict or not self._add(token, features.append, values.append):
                return None
            ends.append(len(features))
        has_values = values.count(1.0) < len(values)
        if has_values and not isfinite(sum(values)):
            return None
        return self._best(len(sentence), ends, features, np.array(values, np.float64) if has_values else self._none)

    def _add(self, token: Any, add: Callable[[int], None], weigh: Callable[[float], None]) -> bool:
        """Add the features of a dict, -1 for unknown ones, and their values; return whether the dict is flat."""
        number = self._numbers.get
        if bytes in map(type, token):
            return False
        for name, value in token.items():
            kind = type(value)
            if kind is str:
                add(number(f"{name}:{value}", -1))
                weigh(1.0)
            elif kind in _NUMBERS:
                add(number(f"{name}", -1))
                weigh(value)
            else:
                return False
        return True

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
