"""Segmentation as python-crfsuite takes it: characters as lists of attributes, words as letters; and measures of words.

Nothing here imports Numba, so that the memory of a process of python-crfsuite is its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

from tagweave.features.columns import HAN, character_class
from tagweave.labels.coding import letters, to_words

Words = list[str]

_GRAMS = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, 0), (-1, 1), (0, 2)]
_TYPES = [(0,), (0, 1), (1, 2)]
_EQUALS = [(-2, -1), (-1, 0), (0, 1), (-2, 0), (-1, 1)]
_TRAIL = 2  # characters looked at on either side


def corpora_folder() -> Path:
    """Where the corpora are; ends the program with a clear word where they are not."""
    folder = Path(os.environ.get("TAGWEAVE_CORPORA", Path(__file__).parents[2] / "shared" / "corpora"))
    if not folder.exists():
        sys.exit(f"no corpora at {folder}: set TAGWEAVE_CORPORA to the folder that holds them")
    return folder


def tagged_words(path: Path, mark: str, lines: int | None = None) -> Iterator[Words]:
    """The words of lines of `word MARK tag`, blank lines left out."""
    with path.open(encoding="utf-8") as file:
        for line in islice(file, lines):
            if words := [token.rpartition(mark)[0] for token in line.split()]:
                yield words


@lru_cache(maxsize=1 << 16)
def _type(character: str) -> str:
    """liu-2014, Table 2: digit, punctuation, English, other."""
    return str(min(character_class(character), HAN))


def attributes(characters: Sequence[str]) -> list[list[str]]:
    """The features of `liu-2014`, Table 2, of every character: the preset's templates, as strings."""
    before = [f"<-{distance}>" for distance in range(_TRAIL, 0, -1)]
    after = [f"<+{distance}>" for distance in range(_TRAIL)]
    forms = [*before, *characters, *after]
    types = [*before, *map(_type, characters), *after]
    found = []
    for at in range(_TRAIL, _TRAIL + len(characters)):
        of_one = [f"{k}=" + "/".join([forms[at + offset] for offset in shape]) for k, shape in enumerate(_GRAMS)]
        of_one += [f"t{k}=" + "/".join([types[at + offset] for offset in shape]) for k, shape in enumerate(_TYPES)]
        of_one += [f"e{k}={forms[at + one] == forms[at + other]}" for k, (one, other) in enumerate(_EQUALS)]
        found.append(of_one)
    return found


def bmes(words: Iterable[str]) -> list[str]:
    """The letter of every character."""
    return [letter for word in words for letter in letters(len(word))]


def words_of(characters: Sequence[str], labels: Sequence[str]) -> Words:
    """The words that the letters of the characters spell."""
    return list(to_words(characters, labels)[0])


def f_score(gold: Sequence[Words], found: Sequence[Words]) -> float:
    """The F measure of words, 0 to 1."""
    right = sum(len(_spans(a) & _spans(b)) for a, b in zip(gold, found, strict=True))
    return 2 * right / (sum(map(len, gold)) + sum(map(len, found)))


def _ends(words: Words) -> list[int]:
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return ends


def _spans(words: Words) -> set[tuple[int, int]]:
    return set(pairwise(_ends(words)))
