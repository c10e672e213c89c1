"""Pieces: tokens of one or more characters that make up a word, and their labels in a word coding.

A piece lies within one word, so its label combines those of its characters: of the word B M M E, the first three
characters are a piece B, and the last is a piece E; the whole word is a piece S.
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
    # coding: for each letter of a piece, the letters of its first, inner and last characters
    "BMES": {"B": "BMM", "M": "MMM", "E": "MME", "S": "BME"},
    "BI": {"B": "BII", "I": "III"},
    "boundary": {"-": "---", "|": "--|"},
}
_ANY = frozenset("*")


def starts(labels: Sequence[str]) -> list[bool]:
    """Whether a word begins at each character, as `to_words` reads labels."""
    return certain_starts([(label,) for label in labels])


def certain_starts(layer: Sequence[Candidates]) -> list[bool]:
    """For each character, whether all its candidates begin a word, or all those of the character before end one."""
    return [bool(layer)][: len(layer)] + [_edges(after)[0] or _edges(before)[1] for before, after in pairwise(layer)]


@lru_cache(maxsize=1 << 12)
def _edges(candidates: Candidates) -> tuple[bool, bool]:
    """Whether all candidates begin a word, and whether all end one."""
    letters = [split_label(candidate)[0] for candidate in candidates or ("",)]
    return all(letter in ("B", "S") for letter in letters), all(letter in ("E", "S", "|") for letter in letters)


def spans(begins: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Start and end of every piece, given the characters at which pieces begin; the first one always does."""
    yield from pairwise([*(at for at, begin in enumerate(begins) if begin), len(begins)])


@lru_cache(maxsize=1 << 16)
def joined(characters: tuple[Candidates, ...], coding: str) -> Candidates:
    """The labels of a piece under which each of its characters has one of its candidates.

    `None` if nothing is known of any character, () if there is no such label. A piece of one character has its
    candidates. Candidates may be wildcards over tags (`B-*`), but not over all other labels (`!B-NN`).
    """
    if len(characters) == 1:
        return characters[0]
    if not any(characters):
        return None
    labels: list[str] = []
    for letter, letters in _CHARACTERS[coding].items():
        first, inner, last = tuple(letters)
        wanted = (first, *inner * (len(characters) - 2), last)
        tags = _in_common([_tags(each, own) for each, own in zip(characters, wanted, strict=True)])
        labels += [f"{letter}-{tag}" if tag else letter for tag in sorted(tags)]
    return tuple(labels)


def _tags(candidates: Candidates, letter: str) -> frozenset[str]:
    """The tags that occur with a letter among candidates, "" for a label without tag, or `_ANY`."""
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
    """The label of a piece from one label of each character; the first of them if they violate the coding."""
    return (joined(tuple((label,) for label in characters), coding) or characters)[0]


def of_characters(label: str, coding: str) -> tuple[str, str, str]:
    """The labels of the first, the inner and the last characters of a piece of several characters."""
    letter, tag = split_label(label)
    first, inner, last = (f"{each}-{tag}" if tag else each for each in _CHARACTERS[coding][letter])
    return first, inner, last


class Spread:
    """Turns labels of pieces into labels of their characters, by numbers.

    Args:
        names: the labels of pieces.
        coding: the word coding.
        numbers: the numbers of the labels of characters; missing labels are added.
        lengths: int64[N], the number of characters of every piece.
    """

    def __init__(self, names: Sequence[str], coding: str, numbers: dict[str, int], lengths: NDArray[np.int64]) -> None:
        parts = [(name, *of_characters(name, coding)) for name in names]
        self._number = np.array([[numbers.setdefault(each, len(numbers)) for each in row] for row in parts], np.int32)
        self.begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        self._piece = np.repeat(np.arange(len(lengths)), lengths)
        # 0: the only character of a piece, 1: the first one, 2: an inner one, 3: the last one
        self._position = np.full(len(self._piece), 2)
        self._position[self.begins[1:] - 1] = 3
        self._position[self.begins[:-1]] = np.where(lengths == 1, 0, 1)

    def characters(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32, a label for every character, from int32[N], one for every piece."""
        return np.asarray(self._number[labels[self._piece], self._position], np.int32)


def names_of_pieces(names: Sequence[str], coding: str) -> tuple[str, ...]:
    """Every letter with every tag of the labels: words that are too long for one piece have pieces with any letter."""
    tags = {split_label(name)[1] for name in names}
    return tuple(sorted(f"{letter}-{tag}" if tag else letter for letter in _CHARACTERS[coding] for tag in tags))
