"""Where the words of a tree stand: far enough apart for themselves and the relations between neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.sentence import Sentence

_WIDE, _NARROW = 1.0, 0.6  # of the size of the letters
_GAP, _MARGIN = 14.0, 10.0
WORD, RELATION = 14.0, 11.0
"""Sizes of letters, in pixels."""


@dataclass(frozen=True)
class Layout:
    """Places in pixels: the centres of words, the width of everything, the height of the line of words."""

    centres: Sequence[float]
    width: float
    line: float = 24.0


def text_width(text: str, size: float) -> float:
    """About how wide a text is: fonts differ, and a picture that is not yet shown cannot be measured."""
    widths = (0 if combining(each) else _WIDE if east_asian_width(each) in "WF" else _NARROW for each in text)
    return size * sum(widths)


def layout(sentence: Sentence, names: Sequence[str]) -> Layout:
    """Places for the words, with room for arcs of the head layers `names`."""
    halves = [text_width(form, WORD) / 2 for form in sentence.forms]
    between = _between(sentence, names)
    centres: list[float] = []
    at = _MARGIN
    for number, half in enumerate(halves):
        least = at + half + (_GAP if number else 0)
        at = max(least, centres[-1] + between[number]) if centres else max(least, 20.0)
        centres.append(round(at, 1))
        at += half
    return Layout(centres, round(at + 20 + _MARGIN, 1))


def _between(sentence: Sentence, names: Sequence[str]) -> list[float]:
    """For every word, how far it is at least from the one before it."""
    room = [34.0] * len(sentence)
    for name in names:
        for at, arcs in enumerate(sentence.heads[name], 1):
            for head, relation in arcs or ():
                if head and abs(head - at) == 1:
                    room[max(head, at) - 1] = max(room[max(head, at) - 1], text_width(relation or "", RELATION) + 18)
    return room
