"""What users pass as X, y and constraints, checked and brought into one form. Nothing here guesses a label."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from tagweave.corpus.sentence import Candidates, Layer

Token = Mapping[str, Any] | Iterable[str]
TokenSequence = Sequence[Token]
Labels = Sequence[str | Collection[str] | None]
"""One position is a label, a set, list or tuple of the labels that it may have, or `None` where nothing is known."""


def token_sequences(X: Iterable[TokenSequence]) -> list[TokenSequence]:
    """The sentences of X as a list.

    Raises:
        ValueError: X is one sentence and not a list of them, or a token is neither a dict nor a list of attributes.
    """
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
    """The evidence of y: every position a tuple of candidates without repeats, or `None`.

    Args:
        y: per sentence, per token, a label, several, or `None`.
        lengths: the tokens of every sentence of X.
        name: of the argument, for messages.

    Raises:
        ValueError: not as many sentences or positions as in X, an empty set, or what is no label.
    """
    _refuse_text(y, name, "a list of sentences")
    rows = list(y)
    if len(rows) != len(lengths):
        raise ValueError(f"{name}: found {len(rows)} sentences, expected {len(lengths)}, as in X")
    known: dict[Any, Candidates] = {}
    return [_layer(row, lengths[i], f"sentence {i} of {name}", known) for i, row in enumerate(rows)]


def _layer(row: Labels, length: int, place: str, known: dict[Any, Candidates]) -> Layer:
    _refuse_text(row, place, "a list of labels")
    positions = list(row)
    if len(positions) != length:
        raise ValueError(f"{place}: found {len(positions)} positions, expected {length}, one a token of X")
    return tuple(_candidates(position, f"{place}, position {t}", known) for t, position in enumerate(positions))


def _candidates(position: Any, place: str, known: dict[Any, Candidates]) -> Candidates:
    """The candidates of a position; equal ones are one object."""
    if position is None:
        return None
    if isinstance(position, str):
        labels: tuple[Any, ...] = (position,)
    elif isinstance(position, AbstractSet):
        labels = tuple(sorted(position, key=str))
    elif isinstance(position, list | tuple):
        labels = tuple(position)
    else:
        raise ValueError(f"{place}: found {position!r}, expected a label, a set, list or tuple of labels, or None")
    if not labels:
        raise ValueError(f"{place}: found an empty set, expected at least one label, or None for unknown")
    for label in labels:
        if not isinstance(label, str):
            raise ValueError(f"{place}: found {label!r} as a label, expected a string")
    if labels not in known:
        known[labels] = tuple(dict.fromkeys(map(str, labels)))  # NumPy's strings become ordinary ones
    return known[labels]


def weights_of(sample_weight: Iterable[float] | None, sentences: int) -> list[float]:
    """One weight a sentence, 1 without any.

    Raises:
        ValueError: not one weight a sentence, or one that is negative or not finite.
    """
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
    """A string or a dict can be iterated, but never is what is meant."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError(f"{name}: found {value!r:.60}, expected {expected}")
