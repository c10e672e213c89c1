"""Checks X, y and constraints from users, and brings them into one form. Nothing here guesses a label."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from tagweave.corpus.characters import decoded, is_text
from tagweave.corpus.sentence import Candidates, Layer


class Predictions(np.ndarray[Any, np.dtype[np.object_]]):
    """The predictions for sentences: [sentences, tokens] if all have as many tokens, else [sentences] of lists.

    This is the shape of sklearn-crfsuite's answers. Arrays of both kinds can be concatenated, as scikit-learn does with
    the predictions of folds: the result is again of the one kind or the other.
    """

    @classmethod
    def of(cls, rows: Sequence[list[Any]]) -> Predictions:
        return np.array(rows, dtype=object).view(cls)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Iterable[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        if func is np.concatenate and not kwargs:
            (parts,) = args
            return Predictions.of([row for predictions in parts for row in predictions.tolist()])
        return super().__array_function__(func, types, args, kwargs)


Token = Mapping[str, Any] | Iterable[str]
TokenSequence = Sequence[Token]
Labels = Sequence[str | bytes | Collection[str | bytes] | None]
"""A position is a label, a set, list or tuple of possible labels, or `None` if it is unknown. Bytes are text."""


def token_sequences(X: Iterable[TokenSequence]) -> list[TokenSequence]:
    """Return the sentences of X. Raise ValueError unless it is a list of lists of dicts or lists of attributes."""
    _refuse_text(X, "X", "a list of sentences")
    sentences: list[TokenSequence] = []
    for i, sentence in enumerate(X):
        _refuse_text(sentence, f"sentence {i} of X", "a list of tokens (X is a list of sentences)")
        tokens = list(sentence)
        for t, token in enumerate(tokens):
            if isinstance(token, str | bytes) or not isinstance(token, Iterable):
                raise ValueError(
                    f"sentence {i} of X: found {token!r} as token {t}, expected a dict or a list of attributes"
                )
        sentences.append(tokens)
    return sentences


def layers_of(y: Iterable[Labels], lengths: Sequence[int], name: str = "y") -> list[Layer]:
    """Return the evidence of y: every position a tuple of distinct candidates, or `None`.

    Raise ValueError, beginning with `name`, for other lengths than X has, an empty set, or a label that is no string.
    """
    _refuse_text(y, name, "a list of sentences")
    rows = list(y)
    if len(rows) != len(lengths):
        raise ValueError(f"{name}: found {len(rows)} sentences, expected {len(lengths)}, as in X")
    read: dict[Any, Candidates] = {}
    return [_layer(row, lengths[i], f"sentence {i} of {name}", read) for i, row in enumerate(rows)]


def _layer(row: Labels, length: int, location: str, known: dict[Any, Candidates]) -> Layer:
    _refuse_text(row, location, "a list of labels")
    positions = list(row)
    if len(positions) != length:
        raise ValueError(f"{location}: found {len(positions)} positions, expected {length}, one a token of X")
    return tuple(_candidates(position, f"{location}, position {t}", known) for t, position in enumerate(positions))


def _candidates(position: Any, location: str, known: dict[Any, Candidates]) -> Candidates:
    if position is None:
        return None
    if isinstance(position, str | bytes):
        labels: tuple[Any, ...] = (position,)
    elif isinstance(position, AbstractSet):
        labels = tuple(sorted(position, key=str))
    elif isinstance(position, list | tuple):
        labels = tuple(position)
    else:
        raise ValueError(f"{location}: found {position!r}, expected a label, a set, list or tuple of labels, or None")
    if not labels:
        raise ValueError(f"{location}: found an empty set, expected at least one label, or None for unknown")
    if bytes in map(type, labels):
        labels = tuple(_text(label, location) for label in labels)
    for label in labels:
        if not isinstance(label, str):
            raise ValueError(f"{location}: found {label!r} as a label, expected a string")
        if not is_text(label):
            raise ValueError(f"{location}: found half of a surrogate pair in {label!r}, expected Unicode text")
    if labels not in known:
        known[labels] = tuple(dict.fromkeys(map(str, labels)))  # NumPy's strings become ordinary ones
    return known[labels]


def _text(label: Any, location: str) -> Any:
    try:
        return decoded(label)
    except ValueError as error:
        raise ValueError(f"{location}: {error}") from None


def weights_of(sample_weight: Iterable[float] | None, sentences: int) -> list[float]:
    """Return a weight for each sentence, 1 by default. Raise ValueError for other lengths or numbers."""
    if sample_weight is None:
        return [1.0] * sentences
    weights = [float(weight) for weight in sample_weight]
    if len(weights) != sentences:
        raise ValueError(f"sample_weight: found {len(weights)} weights, expected {sentences}, one a sentence of X")
    for i, weight in enumerate(weights):
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"sample_weight: found {weight} for sentence {i}, expected a finite number, at least 0")
    return weights


def _refuse_text(value: Any, name: str, expected: str) -> None:
    """Raise for values that are not lists, also for strings and dicts, which can be iterated but are mistakes."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError(f"{name}: found {value!r:.60}, expected {expected}")
