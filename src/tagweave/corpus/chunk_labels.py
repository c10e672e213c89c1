"""Labels that code chunks: their letters and types, what candidates stand for, and which labels may follow which.

A label is `O`, a letter (chunks without types) or `LETTER-TYPE`; `chunk_schemes` describes the schemes. Types are an
open list, so `B-*` stands for `B` with any type, and `!B-X` for every label but that one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.sentence import Candidates, Layer

SCHEMES = ("IOB1", "IOB2", "BIOES")
"""The names of the schemes."""

LENIENT = "IOB"
"""B and I as conlleval reads them, whatever stands before: an I that does not go on begins a chunk. Never written."""
LETTERS = {LENIENT: "BI", "IOB1": "BI", "IOB2": "BI", "BIOES": "BIES"}
"""The letters of each scheme beside `O`."""
ANY = "*"
"""The type of a label that stands for every type."""
_LABEL = re.compile(r"[BIES](-.+)?")
_TYPED = re.compile(r"[BIES]-.+")
_CACHED = 1 << 16  # distinct candidates; a corpus has few


class ChunkLabel(NamedTuple):
    """A label in its parts."""

    letter: str
    type: str | None = None  # `ANY` stands for every type that the sentence does not name


ChunkLabels = tuple[ChunkLabel, ...]
OUTSIDE = ChunkLabel("O")
EDGE: ChunkLabels = (OUTSIDE,)
"""What stands before and after a sentence."""


def parse(label: str) -> ChunkLabel:
    """The parts of a label.

    Raises:
        CorpusError: it does not code a chunk.
    """
    letter, dash, kind = label.partition("-")
    if label == "O":
        return OUTSIDE
    if letter not in ("B", "I", "E", "S") or (dash and not kind):
        raise CorpusError(f"the label {label!r}", "O, or one of B I E S with or without -TYPE")
    return ChunkLabel(letter, kind or None)


def text(label: ChunkLabel) -> str:
    """The label as it is written."""
    return label.letter if label.type is None else f"{label.letter}-{label.type}"


def type_of(name: str) -> str | None:
    """The type of a label, or of a name that is a type."""
    return parse(name).type if _LABEL.fullmatch(name) else name


def codes_chunks(names: Iterable[str]) -> bool:
    """Whether labels look like those of a scheme: nothing but `O` and letters with a type, and some of these."""
    given = set(names) - {OUTSIDE.letter}
    return bool(given) and all(_TYPED.fullmatch(name) for name in given)


def labels(names: Iterable[str], scheme: str) -> tuple[str, ...]:
    """All labels of the scheme for the types of these labels, sorted."""
    types = dict.fromkeys(parse(name).type for name in names if name != OUTSIDE.letter)
    return tuple(sorted(["O", *(text(ChunkLabel(letter, each)) for each in types for letter in LETTERS[scheme])]))


def types_in(layer: Layer) -> tuple[str | None, ...]:
    """The types that a layer names, in their order."""
    parsed = (parse(label.removeprefix("!")) for each in dict.fromkeys(layer) for label in each or ())
    return tuple(dict.fromkeys(label.type for label in parsed if label != OUTSIDE and label.type != ANY))


@lru_cache(_CACHED)
def expanded(candidates: Candidates, named: tuple[str | None, ...], scheme: str) -> ChunkLabels:
    """The labels that candidates stand for, if a sentence names these types."""
    every = (OUTSIDE, *(ChunkLabel(letter, each) for each in (*named, ANY) for letter in LETTERS[scheme]))
    if candidates is None:
        return every
    options: list[ChunkLabel] = []
    for name in candidates:
        label = parse(name.removeprefix("!"))
        if name.startswith("!"):
            options += [each for each in every if each != label and (each.letter, label.type) != (label.letter, ANY)]
        elif label.type == ANY:
            options += [ChunkLabel(label.letter, each) for each in (*named, ANY)]
        else:
            options.append(label)
    return tuple(dict.fromkeys(options))


def continues(last: ChunkLabel, label: ChunkLabel) -> bool:
    """Whether two neighbours are in one chunk."""
    return last.letter in "BI" and label.letter in "IE" and last.type == label.type


def may_follow(scheme: str, last: ChunkLabel, label: ChunkLabel, closes: bool = False) -> bool:
    """Whether a label may follow another in a scheme; `closes` says that the chunk before it ends."""
    if closes and continues(last, label):
        return False
    if scheme == LENIENT:
        return True
    if scheme == "IOB1":
        return label.letter != "B" or (last != OUTSIDE and last.type == label.type)
    if scheme == "IOB2":
        return label.letter != "I" or continues(last, label)
    return continues(last, label) == (last.letter in "BI") == (label.letter in "IE")
