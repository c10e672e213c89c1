"""Transition schemes: which label may follow which, where labels are position letters with an optional type (`B-NN`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_RULES = {
    # scheme: letters that may begin a sequence, letters that may end one, and who may follow whom
    "BMES": ("BS", "ES", {"B": "ME", "M": "ME", "E": "BS", "S": "BS"}),
    "BI": ("B", "BI", {"B": "BI", "I": "BI"}),
    "boundary": ("|-", "|", {"|": "|-", "-": "|-"}),
    "BIO": ("BO", "BIO", {"B": "BIO", "I": "BIO", "O": "BO"}),
    "BIOES": ("BSO", "ESO", {"B": "IE", "I": "IE", "E": "BSO", "S": "BSO", "O": "BSO"}),
}
_CONTINUING = {"BMES": "ME", "BI": "I", "boundary": "", "BIO": "I", "BIOES": "IE"}


@dataclass(frozen=True)
class TransitionScheme:
    """What a coding allows: transition bool[Y, Y] (row: from), start bool[Y], end bool[Y]."""

    transition: Mask
    start: Mask
    end: Mask

    @classmethod
    def free(cls, size: int) -> TransitionScheme:
        """Every sequence is allowed."""
        return cls(np.ones((size, size), bool), np.ones(size, bool), np.ones(size, bool))

    @classmethod
    def of(cls, name: str, labels: Sequence[str]) -> TransitionScheme:
        """The constraints of a coding over labels `LETTER` or `LETTER-TYPE`; a word keeps its type to its end.

        Raises:
            ValueError: an unknown scheme, or a label whose letter the scheme does not have.
        """
        if name not in _RULES:
            raise ValueError(f"unknown scheme {name!r}, expected one of {', '.join(_RULES)}")
        first, last, follows = _RULES[name]
        parts = [label.partition("-") if label != "-" else ("-", "", "") for label in labels]
        letters, types = [part[0] for part in parts], [part[2] for part in parts]
        if strange := sorted({letter for letter in letters if letter not in follows}):
            raise ValueError(f"labels {', '.join(strange)} do not belong to the scheme {name}")
        transition = np.array(
            [
                [b in follows[a] and (b not in _CONTINUING[name] or s == t) for b, t in zip(letters, types, strict=True)]
                for a, s in zip(letters, types, strict=True)
            ]
        )
        start = np.array([letter in first for letter in letters])
        end = np.array([letter in last for letter in letters])
        return cls(transition, start, end)


SCHEMES = tuple(_RULES)
"""The names of the schemes."""
