"""Transition schemes: which label may follow which. Labels are position letters with an optional type (`B-NN`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.spans import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

Mask = NDArray[np.bool_]

_RULES = {
    # scheme: letters that may begin a sequence, letters that may end one, and the letters that may follow each
    "BMES": ("BS", "ES", {"B": "ME", "M": "ME", "E": "BS", "S": "BS"}),
    "BI": ("B", "BI", {"B": "BI", "I": "BI"}),
    "boundary": ("|-", "|", {"|": "|-", "-": "|-"}),
    "IOB1": ("IO", "BIO", {"B": "BIO", "I": "BIO", "O": "IO"}),
    "IOB2": ("BO", "BIO", {"B": "BIO", "I": "BIO", "O": "BO"}),
    "BIOES": ("BSO", "ESO", {"B": "IE", "I": "IE", "E": "BSO", "S": "BSO", "O": "BSO"}),
}
# from one of the former letters to one of the latter, the type stays the same: the word goes on or, in IOB1, one of its
# type follows
_INNER = {
    "BMES": ("BM", "ME"),
    "BI": ("BI", "I"),
    "boundary": ("-", "|-"),
    "IOB1": ("BI", "B"),
    "IOB2": ("BI", "I"),
    "BIOES": ("BI", "IE"),
}


def split_label(label: str) -> tuple[str, str]:
    """Return the letter and the type of a label (`B-NN`, `--NN`); the type may be ""."""
    if label.startswith("-"):  # the letter of the coding `boundary`
        return "-", label[2:]
    letter, _, kind = label.partition("-")
    return letter, kind


def type_of(label: str) -> str:
    """Return the type of a label; `O` is its own."""
    return label if label == OUTSIDE else split_label(label)[1]


def codes_spans(labels: Sequence[str]) -> bool:
    """Return whether labels code spans with types: O, and B, I, E or S with a type, one of them B."""
    parts = [split_label(name) for name in labels if name != OUTSIDE]
    return any(letter == "B" for letter, _ in parts) and all(letter in "BIES" and kind for letter, kind in parts)


@dataclass(frozen=True)
class TransitionScheme:
    """The transitions that a coding allows: transition bool[Y, Y] (row: from), start bool[Y], end bool[Y]."""

    transition: Mask
    start: Mask
    end: Mask

    @cached_property
    def is_free(self) -> bool:
        return bool(self.transition.all() and self.start.all() and self.end.all())

    @classmethod
    def free(cls, size: int) -> TransitionScheme:
        """Return the scheme that allows every sequence."""
        return cls(np.ones((size, size), bool), np.ones(size, bool), np.ones(size, bool))

    @classmethod
    def of(cls, name: str, labels: Sequence[str]) -> TransitionScheme:
        """Return the constraints of a coding over labels `LETTER` or `LETTER-TYPE`; a word has one type."""
        if name not in _RULES:
            raise ValueError(f"unknown scheme {name!r}, expected one of {', '.join(_RULES)}")
        first, last, follows = _RULES[name]
        left, right = _INNER[name]
        parts = [split_label(label) for label in labels]
        letters = [letter for letter, _ in parts]
        if strange := sorted({letter for letter in letters if letter not in follows}):
            raise ValueError(f"labels {', '.join(strange)} do not belong to the scheme {name}")
        transition = np.array(
            [[b in follows[a] and (s == t or a not in left or b not in right) for b, t in parts] for a, s in parts]
        )
        start = np.array([letter in first for letter in letters])
        end = np.array([letter in last for letter in letters])
        return cls(transition, start, end)

    @classmethod
    def bundled(cls, schemes: Sequence[TransitionScheme], projections: Sequence[NDArray[np.int32]]) -> TransitionScheme:
        """Return the transitions that every side allows; `projections` int32[Y] are a side's label in each bundle."""
        lengths = [len(projection) for projection in projections]
        if len(lengths) != len(schemes) or len(set(lengths)) != 1:
            raise ValueError(f"found projections of the lengths {lengths}, expected {len(schemes)} of one length")
        bundles = cls.free(len(projections[0]))
        for scheme, labels in zip(schemes, projections, strict=True):
            bundles.transition[:] &= scheme.transition[np.ix_(labels, labels)]
            bundles.start[:] &= scheme.start[labels]
            bundles.end[:] &= scheme.end[labels]
        return bundles


SCHEMES = tuple(_RULES)
"""The names of the schemes."""
