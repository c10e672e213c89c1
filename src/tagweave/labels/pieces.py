"""Pieces: tokens of one or several characters that a word is made of, and their labels in a word coding.

A piece lies within one word, so its label says what those of its characters say together: of the word B M M E, the
first three characters are a piece B, the last one a piece E; the whole word is a piece S.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tagweave.corpus.sentence import Candidates

_CHARACTERS = {
    # coding: of each letter of a piece the letters of its first, its inner and its last character
    "BMES": {"B": "BMM", "M": "MMM", "E": "MME", "S": "BME"},
    "BI": {"B": "BII", "I": "III"},
    "boundary": {"-": "---", "|": "--|"},
}
_ANY = frozenset("*")


def starts(labels: Sequence[str]) -> list[bool]:
    """For every character whether a word begins there, as `to_words` reads labels."""
    return certain_starts([(label,) for label in labels])


def certain_starts(layer: Sequence[Candidates]) -> list[bool]:
    """For every character whether each of its candidates begins a word, or each of those before it ends one."""
    return [bool(layer)][: len(layer)] + [_edges(after)[0] or _edges(before)[1] for before, after in pairwise(layer)]


@lru_cache(maxsize=1 << 12)
def _edges(candidates: Candidates) -> tuple[bool, bool]:
    """Whether all candidates begin a word, and whether all end one."""
    letters = [split_label(candidate)[0] for candidate in candidates or ("",)]
    return all(letter in ("B", "S") for letter in letters), all(letter in ("E", "S", "|") for letter in letters)


def spans(begins: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Start and end of every piece, given the characters at which one begins; the first one always does."""
    yield from pairwise([*(at for at, begin in enumerate(begins) if begin), len(begins)])


@lru_cache(maxsize=1 << 16)
def joined(characters: tuple[Candidates, ...], coding: str) -> Candidates:
    """The labels of a piece under which each of its characters has one of its candidates.

    `None` if nothing is known of any character, () if no label will do. A piece of one character has its candidates.
    Candidates may be wildcards of tags (`B-*`); one of all labels but one (`!B-NN`) cannot be told of a piece.
    """
    if len(characters) == 1:
        return characters[0]
    if not any(characters):
        return None
    found: list[str] = []
    for letter, places in _CHARACTERS[coding].items():
        first, inner, last = tuple(places)
        wanted = (first, *inner * (len(characters) - 2), last)
        tags = _in_common([_tags(each, own) for each, own in zip(characters, wanted, strict=True)])
        found += [f"{letter}-{tag}" if tag else letter for tag in sorted(tags)]
    return tuple(found)


def _tags(candidates: Candidates, letter: str) -> frozenset[str]:
    """The tags with which candidates have a letter, "" for labels without tags, or any."""
    if candidates is None:
        return _ANY
    parts = (split_label(candidate) for candidate in candidates)
    tags = frozenset(tag for own, tag in parts if own == letter)
    return _ANY if "*" in tags else tags


def _in_common(tags: Sequence[frozenset[str]]) -> frozenset[str]:
    known = [each for each in tags if each is not _ANY]
    return frozenset.intersection(*known) if known else _ANY


@lru_cache(maxsize=1 << 16)
def label_of(characters: tuple[str, ...], coding: str) -> str:
    """The label of a piece from one label of each of its characters; of labels that break the coding, the first one."""
    return (joined(tuple((label,) for label in characters), coding) or characters)[0]


def of_characters(label: str, coding: str) -> tuple[str, str, str]:
    """The labels of the first, the inner and the last character of a piece of several; that of one keeps its label."""
    letter, tag = split_label(label)
    first, inner, last = (f"{each}-{tag}" if tag else each for each in _CHARACTERS[coding][letter])
    return first, inner, last


class Spread:
    """Labels of pieces as labels of their characters, by numbers.

    Args:
        names: the labels of pieces.
        coding: the word coding.
        numbers: of the labels of characters; labels that it lacks are added.
        lengths: int64[N], the characters of every piece.
    """

    def __init__(self, names: Sequence[str], coding: str, numbers: dict[str, int], lengths: NDArray[np.int64]) -> None:
        parts = [(name, *of_characters(name, coding)) for name in names]
        self._number = np.array([[numbers.setdefault(each, len(numbers)) for each in row] for row in parts], np.int32)
        self.begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        self._piece = np.repeat(np.arange(len(lengths)), lengths)
        self._place = np.full(len(self._piece), 2)  # of several characters, an inner one
        self._place[self.begins[1:] - 1] = 3
        self._place[self.begins[:-1]] = np.where(lengths == 1, 0, 1)

    def characters(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32, a label for every character, from int32[N], one for every piece."""
        return np.asarray(self._number[labels[self._piece], self._place], np.int32)


def names_of_pieces(names: Sequence[str], coding: str) -> tuple[str, ...]:
    """Every letter with every tag that labels have: words too long to be one piece have pieces of all kinds."""
    tags = {split_label(name)[1] for name in names}
    return tuple(sorted(f"{letter}-{tag}" if tag else letter for letter in _CHARACTERS[coding] for tag in tags))
