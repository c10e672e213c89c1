"""Phrases of several tokens in text: the tokens of raw text, a vocabulary, and a trie over its numbers.

Raw text is cut into tokens by one rule: blanks and control characters separate tokens, and every punctuation character
or symbol (Unicode categories P and S) is a token of its own. Phrases are cut by the same rule. Tokens that are given
are cut into such pieces too, and a phrase is found where it begins and ends with a token (`tagweave.kernels.pieces`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import hashing, pieces
from tagweave.kernels.trie import Spans, SymbolTrie, code_points

_POINTS = 0x110000
_PLAIN = 0x20000  # from here on there is neither punctuation nor case
_TOKEN, _SENTENCE = "\ud800", "\ud801"  # after tokens and sentences; no file has halves of surrogate pairs
_HALF = re.compile("[\ud800\ud801]")
_NUMBER = np.dtype(">u4")
_FILL = 2  # slots of the table of the vocabulary for each piece, at least


@cache
def piece_classes(given: bool) -> NDArray[np.uint8]:
    """uint8[code points]: the classes of `pieces`. A sentence of raw text is a line."""
    classes = np.full(_POINTS, pieces.RUN, np.uint8)
    for point in range(_PLAIN):
        character = chr(point)
        category = unicodedata.category(character)
        if category[0] in "PS":
            classes[point] = pieces.ALONE
        elif character.isspace() or category in ("Zs", "Zl", "Zp", "Cc"):
            classes[point] = pieces.BLANK
    if given:
        classes[ord(_TOKEN)], classes[ord(_SENTENCE)] = pieces.TOKEN, pieces.SENTENCE
    else:
        classes[ord("\n")] = pieces.SENTENCE
    return classes


@cache
def folding(folded: bool) -> NDArray[np.uint32]:
    """uint32[code points]: what a character counts as; if folded, its lower case, and 0 for every digit."""
    fold = np.arange(_POINTS, dtype=np.uint32)
    if folded:
        for point in range(_PLAIN):
            character = chr(point)
            lower = "0" if character.isdigit() else character.lower()
            if len(lower) == 1:
                fold[point] = ord(lower)
    return fold


@dataclass(frozen=True)
class Pieces:
    """The pieces of a text.

    Attributes:
        points: int32[n], its code points.
        start, stop: int64[K], piece k is points[start[k]:stop[k]].
        code: uint64[K], the hash of each piece.
        border: bool[K + 1], whether a token or the end of a sentence begins at a piece, and after the last one.
        ends: bool[K], whether a piece is the end of a sentence.
    """

    points: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    code: NDArray[np.uint64]
    border: NDArray[np.bool_]
    ends: NDArray[np.bool_]

    def of_tokens(self, spans: Spans) -> Spans:
        """Spans of pieces as spans of tokens, which are counted over all sentences."""
        token = np.cumsum(self.border[:-1] & ~self.ends) - 1
        return Spans(token[spans.start], token[spans.stop - 1] + 1, spans.word)


def pieces_of_text(text: str, folded: bool) -> Pieces:
    """The pieces of raw text, each a token; sentences end with a line break."""
    return _cut(text, False, folded)


def pieces_of_tokens(sentences: Sequence[Sequence[str]], folded: bool) -> Pieces:
    """The pieces of sentences of given tokens; an empty piece for a token of nothing but blanks."""
    text = "".join(_TOKEN.join([*forms, ""]) + _SENTENCE for forms in sentences)
    if text.count(_TOKEN) + text.count(_SENTENCE) != sum(map(len, sentences)) + len(sentences):
        return pieces_of_tokens([[_HALF.sub("\ufffd", form) for form in forms] for forms in sentences], folded)
    return _cut(text, True, folded)


def _cut(text: str, given: bool, folded: bool) -> Pieces:
    points = code_points(text).view(np.int32)
    n, classes = len(points), piece_classes(given)
    start, stop, code = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint64)
    border = np.empty(n + 1, np.bool_)
    count = pieces.cut(points, classes, folding(folded), given, start, stop, code, border)
    ends = classes[points[start[:count]]] == pieces.SENTENCE
    return Pieces(points, start[:count], stop[:count], code[:count], border[: count + 1], ends)


class PhraseTrie:
    """Finds phrases of one token or several.

    Args:
        phrases: texts; those that are alike under folding are one entry.
        stop: phrases that are not looked for.
        folded: whether upper and lower case, and all digits, are alike.

    Attributes:
        entry: int64[P], the number of the entry of each phrase; -1 for one that is not looked for.
        size: the number of entries.
    """

    def __init__(self, phrases: Sequence[str], stop: Sequence[str] = (), folded: bool = False) -> None:
        self.folded = folded
        cut = pieces_of_text("".join(f"{phrase}\n" for phrase in (*phrases, *stop)), folded)
        codes, numbers = np.unique(cut.code[~cut.ends], return_inverse=True)
        ptr = np.flatnonzero(cut.ends) - np.arange(int(cut.ends.sum()))
        rows = _rows(numbers, np.concatenate([[0], ptr]))
        distinct = sorted({*rows[: len(phrases)]}.difference(rows[len(phrases) :], [b""]))
        number = {row: i for i, row in enumerate(distinct)}
        self.entry = np.array([number.get(row, -1) for row in rows[: len(phrases)]], np.int64)
        self.size = len(distinct)
        self._vocabulary(codes)
        self._trie = _trie(distinct, len(codes))

    def _vocabulary(self, codes: NDArray[np.uint64]) -> None:
        slots = 1 << max(4, (_FILL * len(codes)).bit_length())
        self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        hashing.place(self._keys, self._values, codes, np.arange(len(codes), dtype=np.int32), slots)

    def numbers(self, cut: Pieces) -> NDArray[np.int32]:
        """int32[K]: the number of each piece in the vocabulary, -1 if no phrase has it."""
        numbers = np.empty(len(cut.code), np.int32)
        hashing.find(self._keys, self._values, cut.code, numbers)
        numbers.flags.writeable = False  # as the code points of a text: one compiled kernel serves both
        return numbers

    def match(self, cut: Pieces) -> Spans:
        """The phrases that maximum matching finds from left to right, without overlaps: spans of pieces."""
        return self._trie.match(self.numbers(cut), cut.border)

    def occurrences(self, cut: Pieces) -> Spans:
        """All occurrences of phrases: spans of pieces."""
        return self._trie.occurrences(self.numbers(cut), cut.border)


def _rows(numbers: NDArray[np.int64], ptr: NDArray[np.int64]) -> list[bytes]:
    """The rows numbers[ptr[i]:ptr[i + 1]] as bytes, which rise as the numbers do."""
    text = numbers.astype(_NUMBER).tobytes()
    bounds = (ptr * _NUMBER.itemsize).tolist()
    return [text[low:high] for low, high in pairwise(bounds)]


def _trie(rows: Sequence[bytes], size: int) -> SymbolTrie:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows)) // _NUMBER.itemsize
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    symbols = np.frombuffer(b"".join(rows), _NUMBER).astype(np.int32)
    return SymbolTrie(symbols, ptr, np.arange(len(rows), dtype=np.int32), size)
