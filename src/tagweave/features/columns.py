"""Columns of 64-bit codes for templates, derived from the forms of tokens.

A column gives every distinct form a code, or 0 for no value. Codes are hashes of content, so they need no vocabulary
and are the same in every corpus and process. A list column gives every form any number of codes.

The columns of word clusters are `cluster`, the bit string of a word's cluster, and `cluster_N`, its first N bits, or
all of a shorter string. Strings are paths through a binary tree of clusters, so a prefix names a larger cluster.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import count as count_from

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import folded

LONGEST = 32
"""The longest prefix."""
CLUSTER_COLUMNS: dict[str, int | None] = {"cluster": None, **{f"cluster_{n}": n for n in range(1, LONGEST + 1)}}
"""The columns, with the lengths of the prefixes."""

Codes = NDArray[np.uint64]
MAX_AFFIX = 4
_DATE_CHARACTERS = "年月日时時分秒"
_DIGIT = re.compile(r"\d")
DIGIT, LETTER, PUNCTUATION, HAN, HIRAGANA, KATAKANA, OTHER, CAPITAL = range(1, 9)


def character_class(character: str) -> int:
    """Return the class of one character; full-width and half-width forms have the same class."""
    if ("一" <= character <= "鿿" or "\U00020000" <= character < "\U00040000") and unicodedata.category(
        character
    ) == "Lo":
        return HAN  # most characters in Chinese text; looking names up is slow
    folded = unicodedata.normalize("NFKC", character)[:1] or character
    name, category = unicodedata.name(folded, ""), unicodedata.category(folded)
    by_name = {"CJK": HAN, "HIRAGANA": HIRAGANA, "KATAKANA": KATAKANA}
    if category.startswith("N"):
        return HAN if name.startswith("CJK") else DIGIT
    if category[0] in "PSZ":
        return PUNCTUATION
    if (script := name.partition(" ")[0].partition("-")[0]) in by_name:
        return by_name[script]
    return LETTER if category.startswith("L") else OTHER


def _date_class(character: str) -> int:
    """jiang-2015, section 2.2: number 1, date 2, English letter 3, others 4."""
    if character in _DATE_CHARACTERS:
        return 2
    return {DIGIT: 1, LETTER: 3}.get(character_class(character), 4)


def shape_class(character: str) -> int:
    """Return the class of a character, one more for capitals; punctuation and symbols stand for themselves."""
    of = character_class(character)
    if of == PUNCTUATION:
        return ord(character)
    return CAPITAL if of == LETTER and character.isupper() else of


class FormColumns:
    """The columns of a list of V distinct forms; `bits` gives the bit string of a form, for `CLUSTER_COLUMNS`.

    Every scalar column is uint64[V]; a list column is a pair: ptr int64[V + 1] and the codes.
    """

    def __init__(self, forms: Sequence[str], bits: Callable[[str], str] = lambda _: "") -> None:
        self._forms, self._bits_of = forms, bits
        self.points, self.start, self.stop = _code_points(forms)
        self.length = self.stop - self.start
        self._scalars: dict[str, Codes] = {}

    def scalar(self, name: str) -> Codes:
        """Return uint64[V], one code per form, 0 where the column has no value for the form."""
        if name not in self._scalars:
            is_cluster = name in CLUSTER_COLUMNS
            self._scalars[name] = self.cluster(CLUSTER_COLUMNS[name]) if is_cluster else SCALAR_COLUMNS[name](self)
        return self._scalars[name]

    def listed(self, name: str) -> tuple[NDArray[np.int64], Codes]:
        """ptr int64[V + 1] and codes of a list column."""
        return LIST_COLUMNS[name](self)

    def _spans(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Codes:
        return _hashed(self.points, start, stop)

    def form(self) -> Codes:
        return self._spans(self.start, self.stop)

    def changed(self, change: Callable[[str], str]) -> Codes:
        return FormColumns([change(form) for form in self._forms]).form()

    def collapsed(self, of: Callable[[str], int]) -> Codes:
        """Return the classes of the characters, with runs of a class collapsed: `Xx` for the shape of `Paris`."""
        points = self._per_point(of).astype(np.uint32)
        begins = np.diff(points, prepend=0) != 0
        begins[self.start[self.length > 0]] = True
        kept = np.concatenate([[0], np.cumsum(begins)])
        return _hashed(points[begins], kept[self.start], kept[self.stop])

    def prefix(self, length: int) -> Codes:
        """Return the first `length` characters, absent where the form is shorter."""
        return self._spans(self.start, np.where(self.length >= length, self.start + length, self.start))

    def suffix(self, length: int) -> Codes:
        """Return the last `length` characters, absent where the form is shorter."""
        return self._spans(np.where(self.length >= length, self.stop - length, self.stop), self.stop)

    def cluster(self, length: int | None = None) -> Codes:
        """Return the bit string of the form's cluster, or its first `length` bits; absent without a cluster."""
        bits = self._bits
        stop = bits.stop if length is None else np.minimum(bits.stop, bits.start + length)
        return bits._spans(bits.start, stop)

    @cached_property
    def _bits(self) -> FormColumns:
        return FormColumns([*map(self._bits_of, self._forms)])

    def classes(self, of: Callable[[str], int]) -> Codes:
        """Return the class of the form's characters if all have the same, else 99."""

        def common(values: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
            smallest, largest = np.minimum.reduceat(values, at), np.maximum.reduceat(values, at)
            return np.where(smallest == largest, smallest, 99)

        return self._reduce(self._per_point(of), common)

    def flag(self, test: Callable[[str], bool], everywhere: bool, first_only: bool = False) -> Codes:
        """1 where the test holds for the first, any or every character of the form, absent elsewhere."""
        per_point = self._per_point(lambda character: int(test(character)))
        if first_only:
            out = np.zeros(len(self.start), np.uint64)
            filled = self.length > 0
            out[filled] = per_point[self.start[filled]]
            return out
        reduce = np.minimum if everywhere else np.maximum
        return self._reduce(per_point, reduce.reduceat)

    @cached_property
    def _distinct_points(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        return np.unique(self.points, return_inverse=True)

    def _per_point(self, of: Callable[[str], int]) -> NDArray[np.int64]:
        distinct, inverse = self._distinct_points
        return np.array([of(chr(point)) for point in distinct], np.int64)[inverse]

    def _reduce(
        self, values: NDArray[np.int64], reduce: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
    ) -> Codes:
        """One number per form from one number per character; 0 for an empty form."""
        out = np.zeros(len(self.start), np.uint64)
        filled = self.length > 0
        if filled.any():
            out[filled] = reduce(values, self.start[filled]).astype(np.uint64)
        return out

    def inner(self) -> tuple[NDArray[np.int64], Codes]:
        """li-2015, Table 1, 09: the characters between the first and the last."""
        return self._characters(self.start + 1, self.stop - 1)

    def repeat(self) -> tuple[NDArray[np.int64], Codes]:
        """li-2015, Table 1, 13: every character that is followed by itself."""
        ptr, codes = self._characters(self.start, self.stop - 1)
        positions = _positions(self.start, self.stop - 1)
        kept = self.points[positions] == self.points[positions + 1]
        before = np.concatenate([[0], np.cumsum(kept)])
        return before[ptr], codes[kept]

    def _characters(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
        positions = _positions(start, stop)
        ptr = np.concatenate([[0], np.cumsum(np.maximum(stop - start, 0))])
        return ptr, self._spans(positions, positions + 1)


def _hashed(points: NDArray[np.uint32], start: NDArray[np.int64], stop: NDArray[np.int64]) -> Codes:
    """Return the code of points[start[i]:stop[i]], 0 for an empty span."""
    from tagweave.kernels.hashing import hash_spans

    out = np.empty(len(start), np.uint64)
    hash_spans(points, start, stop, np.uint64(0), out)
    return out


def _code_points(forms: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    # a `bytearray` gives a writable array; Numba would compile every kernel again for a read-only one
    points = np.frombuffer(bytearray("".join(forms).encode("utf-32-le", "surrogatepass")), np.uint32)
    lengths = np.fromiter(map(len, forms), np.int64, len(forms))
    stop = np.cumsum(lengths)
    return points, stop - lengths, stop


def _positions(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """start[0] .. stop[0] - 1, start[1] .. stop[1] - 1, ... in one array."""
    lengths = np.maximum(stop - start, 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.arange(int(lengths.sum())) - np.repeat(offsets - start, lengths)


def _affix(method: str, length: int) -> Callable[[FormColumns], Codes]:
    return lambda columns: getattr(columns, method)(length)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _changed(change: Callable[[str], str]) -> Callable[[FormColumns], Codes]:
    return lambda columns: columns.changed(change)


CHANGES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "folded": folded,  # full-width and half-width characters alike
    "normal": lambda form: _DIGIT.sub("0", form.lower()),
}
"""The columns of forms that are changed before they are compared."""

SCALAR_COLUMNS: dict[str, Callable[[FormColumns], Codes]] = {
    "form": FormColumns.form,
    **{name: _changed(change) for name, change in CHANGES.items()},
    "shape": lambda columns: columns.collapsed(shape_class),
    # the general categories of characters (Unicode, section 4.5), `LuLl` for `Paris`
    "category": lambda columns: columns.collapsed(
        lambda character: int.from_bytes(unicodedata.category(character).encode(), "big")
    ),
    "first": _affix("prefix", 1),
    "last": _affix("suffix", 1),
    "single": lambda columns: np.where(columns.length == 1, columns.form(), np.uint64(0)),
    "length": lambda columns: np.asarray(np.minimum(columns.length, 10), np.uint64),
    # liu-2014, Table 2: digit, punctuation, English, other
    "type": lambda columns: columns.classes(lambda character: min(character_class(character), HAN)),
    "script": lambda columns: columns.classes(character_class),
    "date_class": lambda columns: columns.classes(_date_class),
    "punctuation": lambda columns: columns.flag(_is_punctuation, everywhere=True),
    "starts_digit": lambda columns: columns.flag(str.isdigit, everywhere=False, first_only=True),
    "starts_upper": lambda columns: columns.flag(str.isupper, everywhere=False, first_only=True),
    "all_upper": lambda columns: columns.flag(str.isupper, everywhere=True),
    "all_lower": lambda columns: columns.flag(str.islower, everywhere=True),
    "has_period": lambda columns: columns.flag(lambda character: character == ".", everywhere=False),
    "has_punctuation": lambda columns: columns.flag(_is_punctuation, everywhere=False),
    "has_hyphen": lambda columns: columns.flag(lambda character: character == "-", everywhere=False),
    "final": FormColumns.form,  # of the sentence's last token: the encoder looks it up there
    **{f"prefix_{n}": _affix("prefix", n) for n in range(1, MAX_AFFIX + 1)},
    **{f"suffix_{n}": _affix("suffix", n) for n in range(1, MAX_AFFIX + 1)},
}
"""The columns with one value per form."""

LIST_COLUMNS: dict[str, Callable[[FormColumns], tuple[NDArray[np.int64], Codes]]] = {
    "inner": FormColumns.inner,
    "repeat": FormColumns.repeat,
}
"""The columns with any number of values per form."""


def value_numbers(values: Iterable[str], count: int) -> tuple[NDArray[np.int32], list[str]]:
    """Return int32[count], a number for each value, and the distinct values in the order of their numbers."""
    numbers: defaultdict[str, int] = defaultdict(count_from(0).__next__)
    return np.fromiter(map(numbers.__getitem__, values), np.int32, count), list(numbers)
