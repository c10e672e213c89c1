"""What a head layer says of heads: the only one, several, or a number for each (`Soft`).

A likelihood, P(what was said | head), takes the place of the ones of a set, scaled to a maximum of 1. Where only the
relations of a head differ, it has the largest of their numbers, so that equal numbers are a set. A posterior, P(head |
what was said), sums over relations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.corpus.soft import Soft
from tagweave.labels.sets import Reading, sums_to_one

ANY, SEVERAL = -1, -2


def only_head(candidates: ArcCandidates) -> int:
    """The only head among the candidates, `ANY` if all heads are allowed, else `SEVERAL`.

    Candidates with the number 0 are none.
    """
    if candidates is None:
        return ANY
    if isinstance(candidates, Soft):
        return _only_numbered(candidates)
    heads = {arc.head for arc in candidates}
    if None in heads:
        return ANY
    return next(iter(heads)) or 0 if len(heads) == 1 else SEVERAL


def allowed_arcs(sentence: Sentence, layer: str, heads: NDArray[np.int32], reading: Reading) -> NDArray[Any]:
    """What a sentence of L tokens allows, [L + 1, L + 1] by head and modifier, flat.

    Args:
        sentence: the sentence.
        layer: the head layer.
        heads: int32[L + 1], the only head of every position, or `ANY` or `SEVERAL`.
        reading: what numbers of candidates are.

    Returns:
        uint8 of a set; float32 with numbers; empty if all is allowed, or one head for every token.

    Raises:
        CorpusError: probabilities that do not sum to 1, or of a head that is not named; or probabilities for some
            tokens while the heads of others are unknown, a set, or uncertain.
    """
    given = sentence.heads.get(layer) or ()
    soft = {m: each for m, each in enumerate(given, 1) if isinstance(each, Soft)}
    if soft and reading == "posterior":
        _check_probabilities(sentence, soft, heads)
    n = len(heads)
    if (heads[1:] >= 0).all() or (heads == ANY).all():
        return np.zeros(0, np.uint8)
    allowed = np.ones((n, n), np.float32 if soft else np.uint8)
    for m in np.flatnonzero(heads != ANY).tolist():
        allowed[:, m] = 0
        if m in soft:
            allowed[:, m] = _numbers(soft[m], n, reading)
        else:
            allowed[[arc.head or 0 for arc in given[m - 1] or ()], m] = 1
    allowed[:, 0] = 0
    np.fill_diagonal(allowed, 0)
    return (allowed if are_numbers(allowed) else allowed.astype(np.uint8)).reshape(-1)


def are_numbers(allowed: NDArray[Any]) -> bool:
    """Whether there are any but 0 and 1."""
    return allowed.dtype != np.uint8 and bool(((allowed > 0) & (allowed < 1)).any())


def _only_numbered(candidates: Soft[Arc]) -> int:
    numbers = _largest(candidates)
    of_any = numbers.pop(None, 0.0)
    if of_any > 0:
        return SEVERAL if any(each > of_any for each in numbers.values()) else ANY
    return next(iter(numbers)) or 0 if len(numbers) == 1 else SEVERAL


def _largest(candidates: Soft[Arc]) -> dict[int | None, float]:
    """Every head with the largest number of its candidates, unless that is 0."""
    numbers: dict[int | None, float] = {}
    for arc, number in candidates.numbered():
        if number > numbers.get(arc.head, 0.0):
            numbers[arc.head] = number
    return numbers


def _numbers(candidates: Soft[Arc], n: int, reading: Reading) -> NDArray[np.float64]:
    """float64[n]: the numbers of heads. The likelihood of an unknown head is one of every head."""
    row = np.zeros(n)
    if reading == "posterior":
        np.add.at(row, [arc.head or 0 for arc in candidates], [number for _, number in candidates.numbered()])
        return np.asarray(row / row.sum())
    for head, number in _largest(candidates).items():
        at = slice(None) if head is None else head
        row[at] = np.maximum(row[at], number)
    return np.asarray(row / row.max())


def _check_probabilities(sentence: Sentence, soft: dict[int, Soft[Arc]], heads: NDArray[np.int32]) -> None:
    """Raise unless numbers are probabilities, and if any are of several heads, every head is known or has some."""
    if any(each < 1 for each in sentence.confidence or ()):
        expected = "one of the two, or `soft_labels=likelihood`"
        raise CorpusError("a confidence in heads with probabilities", expected, *sentence.location)
    for m, candidates in soft.items():
        named = [arc.head for arc, number in candidates.numbered() if number > 0]
        if not sums_to_one(candidates.numbers):
            listed = ", ".join(f"{each:g}" for each in candidates.numbers)
            expected = "a sum of 1, or `soft_labels=likelihood`"
            raise CorpusError(f"the probabilities {listed} of heads of token {m}", expected, *sentence.location)
        if None in named and {*named} != {None}:
            expected = "a head for each, or `soft_labels=likelihood`"
            raise CorpusError(f"a probability of a head of token {m} that is not named", expected, *sentence.location)
    is_open = heads < 0
    is_open[list(soft)] &= heads[list(soft)] == ANY
    if any(heads[m] == SEVERAL for m in soft) and is_open[1:].any():
        found = f"probabilities of heads, but not of those of token {int(is_open[1:].argmax()) + 1}"
        expected = "a head or probabilities of heads for every token, or `soft_labels=likelihood`"
        raise CorpusError(found, expected, *sentence.location)
