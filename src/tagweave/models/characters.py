"""Single characters as templates see them: known characters, classes of unknown ones, and pads outside a sentence."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import RAW_BLANKS, folded_points, public_points
from tagweave.errors import TagweaveError
from tagweave.features.columns import SCALAR_COLUMNS, FormColumns
from tagweave.kernels.hashing import OUTSIDE
from tagweave.kernels.raw_text import BLANK

Codes = NDArray[np.uint64]

POINTS = sys.maxunicode + 1
_FOREIGN = int(OUTSIDE) + (1 << 32)  # first code of characters without features
_MOST_CLASSES = 64
IDENTITIES = ("form", "folded")
"""The columns that distinguish characters; the first one if templates look at neither."""
_WITHOUT_CLASS = ("Cn", "Co", "Cs")  # unassigned, private, surrogates: no column distinguishes them


class UnfitModelError(TagweaveError):
    """A model that cannot segment by tables of pairs; `ChainPredictor` runs every model."""


@dataclass(frozen=True)
class Characters:
    """Entries: known characters and pads, then one for each class of unknown characters.

    Characters of a class have the same values in all columns other than the identity. Every pad has its own class. If
    the identity is `folded`, full-width and half-width forms share an entry.
    """

    identity: str  # one of `IDENTITIES`, the column that distinguishes characters
    # [0x110000 + pads]; equal for characters with the same identity, unique for every pad
    same: NDArray[np.uint32]
    number: NDArray[np.uint16]  # [0x110000], the entry of every code point, or BLANK
    # per column uint64[entries], its codes; the identity of a class is a code of no real character
    values: dict[str, Codes]
    classes: NDArray[np.uint16]  # [entries], the class of each
    known: int  # how many entries are known characters or pads
    pads: NDArray[np.uint16]  # uint16, the entries outside a sentence: those before it, in order, then those after it
    class_count: int  # how many classes there are

    @classmethod
    def of(cls, columns: Collection[str], known: NDArray[np.int64], lead: int, trail: int) -> Characters:
        """Return the entries for templates over `columns`, with features for rising, canonical code points `known`."""
        identity = identity_of(columns)
        points = _plain_points()
        columns_of = FormColumns([chr(point) for point in points])
        codes = {name: columns_of.scalar(_checked(name)) for name in sorted(set(columns) - {identity})}
        class_of, first = _classes(codes, len(points))
        distances = [*range(lead, 0, -1), *range(1000, 1000 + trail)]
        outside = np.array([int(OUTSIDE) + distance for distance in distances], np.uint64)
        size, class_count = len(known) + len(outside), len(first)
        if size + class_count > BLANK:
            raise UnfitModelError(f"found {len(known)} characters in the model, expected fewer than 65,000")
        foreign = np.arange(class_count, dtype=np.uint64) + np.uint64(_FOREIGN)
        of_known = FormColumns([chr(point) for point in known])
        values = {identity: np.concatenate([of_known.scalar(identity), outside, foreign])}
        for name in codes:
            values[name] = np.concatenate([of_known.scalar(name), outside, codes[name][first]])
        number = np.full(POINTS, size + class_of[-1], np.uint16)
        number[points] = size + class_of
        variants = canonical(identity)
        if not np.array_equal(number, number[variants]):
            raise UnfitModelError("found a column that tells full-width from half-width forms, expected none")
        pad_classes = class_count + np.arange(len(outside))
        classes = np.concatenate([number[known] - size, pad_classes, np.arange(class_count)]).astype(np.uint16)
        number[known] = np.arange(len(known))
        number = number[variants]
        number[[ord(blank) for blank in RAW_BLANKS]] = BLANK
        pads = len(known) + np.arange(len(outside), dtype=np.uint16)
        same = np.concatenate([variants, POINTS + np.arange(len(outside), dtype=np.uint32)])
        return cls(identity, same, number, values, classes, size, pads.astype(np.uint16), class_count + len(outside))

    def representatives(self) -> tuple[NDArray[np.int64], dict[str, Codes]]:
        """Return an entry of every class, and the columns of another character of each; a pad stands for both."""
        pads = len(self.pads)
        foreign = np.arange(self.known, len(self.classes))
        entries = np.concatenate([foreign, np.arange(self.known - pads, self.known)])
        others = {name: codes[entries].copy() for name, codes in self.values.items()}
        others[self.identity][: len(foreign)] += np.uint64(1 << 32)
        return entries, others


def identity_of(columns: Collection[str]) -> str:
    """Return the column among these that distinguishes characters."""
    found = [name for name in IDENTITIES if name in columns]
    if len(found) > 1:
        raise UnfitModelError(f"found templates over {' and '.join(found)}, expected one of them")
    return found[0] if found else IDENTITIES[0]


def canonical(identity: str) -> NDArray[np.uint32]:
    """Return uint32[0x110000]: for every code point, the one that represents all with the same value of `identity`."""
    return folded_points() if identity == "folded" else np.arange(POINTS, dtype=np.uint32)


@cache
def _plain_points() -> NDArray[np.int64]:
    """Return the code points that columns can distinguish, followed by one that represents all others."""
    plain = [point for point in public_points() if unicodedata.category(chr(point)) not in _WITHOUT_CLASS]
    return np.array([*plain, POINTS - 1])  # never assigned


def _checked(column: str) -> str:
    if column not in SCALAR_COLUMNS or column == "final":
        raise UnfitModelError(f"found a template over {column!r}, expected columns of single characters")
    return column


def _classes(columns: dict[str, Codes], points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return int64[points], the class of every code point, and the first point of every class."""
    class_of = np.zeros(points, np.int64)
    for name, codes in columns.items():
        distinct, number = np.unique(codes, return_inverse=True)
        if len(distinct) > _MOST_CLASSES:
            raise UnfitModelError(f"found a template over {name!r}, expected form or columns with few values")
        _, class_of = np.unique(class_of * len(distinct) + number, return_inverse=True)
    _, first = np.unique(class_of, return_index=True)
    return class_of, first
