"""Tries of words or phrases as arrays, their occurrences in a text, and maximum matching along them.

A symbol is a small number: the code point of a character, or the number of a word in a vocabulary; -1 is in no entry.
The nodes of the trie are numbered breadth first, entries in sorted order, so the children of a node are adjacent and in
order: node i has the children child[i] .. child[i + 1] - 1, and the symbol label[j] leads to node j.
The nodes of depth 1 are found by `root[symbol]`, the others by binary search. That is 12 bytes a node: the trie of
a dictionary of 350,000 words (500,000 nodes) stays near the processor.

Phrases are found among tokens. Raw text is cut into tokens by one rule: blanks and control characters separate tokens,
and every punctuation character or symbol (Unicode categories P and S) is a token of its own. Phrases are cut by the
same rule. Given tokens are cut into such pieces, too, and a phrase begins and ends where tokens do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import hashing, inner, kernel, text_arrays

_POINTS = 0x110000
_RUN = ("Lu", "Ll", "Lt", "Nd", "Mn")


class Spans(NamedTuple):
    """Words in a text, or phrases among tokens, from left to right: symbols[start[k]:stop[k]] is entry word[k]."""

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    word: NDArray[np.int32]

    def only(self, chosen: slice | NDArray[Any]) -> Spans:
        """Select some of the spans, by a slice, a mask or their numbers."""
        return Spans(self.start[chosen], self.stop[chosen], self.word[chosen])


def code_points(text: str) -> NDArray[np.uint32]:
    """Return uint32[n], one per character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def run_characters() -> NDArray[np.bool_]:
    """Return bool[code points]: letters that have case, digits, and marks on them; consecutive ones form a run."""
    category = unicodedata.category
    return np.fromiter((category(chr(point)) in _RUN for point in range(_POINTS)), np.bool_, _POINTS)


class SymbolTrie:
    """A trie of rows of symbols below `size`, row r being symbols[ptr[r] : ptr[r + 1]], which matches as entries[r].

    Rows are different, not empty, and rise.
    """

    def __init__(
        self, symbols: NDArray[np.int32], ptr: NDArray[np.int64], entries: NDArray[np.int32], size: int
    ) -> None:
        lengths = np.diff(ptr)
        common, counts = np.zeros(len(lengths), np.int64), np.zeros(lengths.max(initial=0) + 2, np.int64)
        count_nodes(symbols, ptr, common, counts)
        nodes, following = int(counts.sum()), np.cumsum(counts) - counts
        following = np.append(following, nodes)
        label, child, entry = np.empty(nodes, np.int32), np.empty(nodes + 1, np.int32), np.empty(nodes, np.int32)
        self.arrays = np.full(size + 1, NONE, np.int32), label, child, entry
        grow(symbols, ptr, common, following, entries, *self.arrays)

    def match(self, symbols: NDArray[np.int32], border: NDArray[np.bool_]) -> Spans:
        """Return the entries that maximum matching finds from left to right, without overlaps.

        `border` bool[n + 1]: whether an entry may begin or end before each symbol, and after the last one.
        """
        return self._spans(match, symbols, border, len(symbols))

    def occurrences(self, symbols: NDArray[np.int32], border: NDArray[np.bool_]) -> Spans:
        """Return all occurrences of all entries, overlapping others or not; arguments as for `match`."""
        return self._spans(occurrences, symbols, border, len(symbols))

    def _spans(
        self, kernel: Callable[..., int], symbols: NDArray[np.int32], border: NDArray[np.bool_], capacity: int
    ) -> Spans:
        spans = Spans(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int32))
        count = kernel(symbols, border, *self.arrays, *spans)
        return spans.only(slice(count)) if count <= capacity else self._spans(kernel, symbols, border, count)


class Trie:
    """The trie of distinct, non-empty words, whose symbols are their code points; numbers[i] is word i in matches."""

    def __init__(self, words: Sequence[str], numbers: Sequence[int]) -> None:
        order = sorted(range(len(words)), key=words.__getitem__)
        lengths = np.fromiter((len(words[i]) for i in order), np.int64, len(order))
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        points = code_points("".join(words[i] for i in order)).view(np.int32)
        self.nodes = SymbolTrie(points, ptr, np.array([numbers[i] for i in order], np.int32), _POINTS)

    def match(self, points: NDArray[np.uint32]) -> Spans:
        """Return the words that maximum matching finds from left to right, without overlaps."""
        return self.nodes.match(*_with_borders(points))

    def occurrences(self, points: NDArray[np.uint32]) -> Spans:
        """Return all occurrences of all words in the text, overlapping others or not."""
        return self.nodes.occurrences(*_with_borders(points))


def _with_borders(points: NDArray[np.uint32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the code points as symbols, and where words may begin and end: not inside a run."""
    is_run, border = run_characters()[points], np.ones(len(points) + 1, np.bool_)
    border[1:-1] = ~(is_run[1:] & is_run[:-1])
    return points.view(np.int32), border


NONE = -1
"""No node, no entry."""


@kernel
def count_nodes(symbols, ptr, common, counts):
    """counts[d] = the nodes of depth d: entries that differ from the one before them within their first d symbols.

    Entry i is symbols[ptr[i]:ptr[i + 1]]; common[i] (out) is how many symbols it shares with entry i - 1.
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        shared = 0
        if i > 0:
            most = min(length, ptr[i] - ptr[i - 1])
            while shared < most and symbols[ptr[i] + shared] == symbols[ptr[i - 1] + shared]:
                shared += 1
        common[i] = shared
        for d in range(shared + 1, length + 1):
            counts[d] += 1


@kernel
def grow(symbols, ptr, common, following, entries, root, label, child, entry):
    """Lay out the trie of sorted, different, non-empty entries.

    following int64[D + 2]   the first node of every depth; advances as nodes are made
    entries   int32[W]       the value of entry[node] at the end of entry i
    root      int32[symbols + 1]  (out) NONE where no entry begins; the last one is for symbol -1
    label     int32[N], child int32[N + 1]  (out)
    entry     int32[N]       (out) NONE where no entry ends
    """
    for i in range(ptr.shape[0] - 1):
        length = ptr[i + 1] - ptr[i]
        for d in range(common[i] + 1, length + 1):
            node = following[d]
            following[d] += 1
            label[node] = symbols[ptr[i] + d - 1]
            child[node] = following[d + 1]
            entry[node] = NONE
            if d == 1:
                root[label[node]] = node
        entry[following[length] - 1] = entries[i]
    child[label.shape[0]] = label.shape[0]


@inner
def _child(label, child, node, symbol):
    """Return the child of a node that a symbol leads to, NONE if there is none."""
    low, high, wanted = np.int64(child[node]), np.int64(child[node + 1]), np.int64(symbol)
    end = high
    while low < high:
        middle = (low + high) >> 1
        if label[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and label[low] == wanted else NONE


@kernel
def match(symbols, border, root, label, child, entry, starts, stops, entries):
    """Maximum matching: from left to right, the longest entry at each position, then on after it. Returns how many.

    border bool[n + 1]: whether an entry may begin or end before symbol i. symbols[starts[k]:stops[k]] is entries[k].
    """
    n = symbols.shape[0]
    count = 0
    i = 0
    while i < n:
        node = root[symbols[i]]
        if node < 0 or not border[i]:
            i += 1
            continue
        stop, longest = i, NONE
        j = i + 1
        while True:
            if entry[node] >= 0 and border[j]:
                stop, longest = j, entry[node]
            if j == n:
                break
            node = _child(label, child, node, symbols[j])
            if node < 0:
                break
            j += 1
        if longest >= 0:
            starts[count], stops[count], entries[count] = i, stop, longest
            count += 1
            i = stop
        else:
            i += 1
    return count


@kernel
def occurrences(symbols, border, root, label, child, entry, starts, stops, entries):
    """List every occurrence of each entry by rising start, also inside or across another one; arguments as for
    `match`.

    Returns how many there are; only as many are written as the arrays can hold.
    """
    n = symbols.shape[0]
    count = 0
    for i in range(n):
        node = root[symbols[i]]
        if node < 0 or not border[i]:
            continue
        j = i + 1
        while node >= 0:
            if entry[node] >= 0 and border[j]:
                if count < starts.shape[0]:
                    starts[count], stops[count], entries[count] = i, j, entry[node]
                count += 1
            if j == n:
                break
            node = _child(label, child, node, symbols[j])
            j += 1
    return count


@kernel
def longest(starts, stops, most, lengths):
    """Set lengths int32[3, n] of the longest word that begins at, strictly contains, and ends at each character.

    They are 0 before. Words of two points and more may overlap; longer ones than `most` count as this long.
    """
    for k in range(starts.shape[0]):
        length = min(stops[k] - starts[k], most)
        lengths[0, starts[k]] = max(lengths[0, starts[k]], length)
        lengths[2, stops[k] - 1] = max(lengths[2, stops[k] - 1], length)
        for i in range(starts[k] + 1, stops[k] - 1):
            lengths[1, i] = max(lengths[1, i], length)


@kernel
def cover(starts, stops, entries, first, last, entry):
    """Set the entry of the longest span that contains each position, of equal ones the first, and its first and last
    position. Spans rise by start; entry int32[n] is NONE before, and stays so where there is no span."""
    for k in range(starts.shape[0]):
        length = stops[k] - starts[k]
        for i in range(starts[k], stops[k]):
            if entry[i] < 0 or length > last[i] - first[i] + 1:
                first[i], last[i], entry[i] = starts[k], stops[k] - 1, entries[k]


_PLAIN = 0x20000  # from here on there is neither punctuation nor case
_TOKEN, _SENTENCE = "\ud800", "\ud801"  # after tokens and sentences; no file has halves of surrogate pairs
_HALF = re.compile("[\ud800\ud801]")
_NUMBER = np.dtype(">u4")
_FILL = 2  # slots of the table of the vocabulary for each piece, at least


@cache
def piece_classes(of_tokens: bool) -> NDArray[np.uint8]:
    """Return uint8[code points]: the classes of `pieces`. A sentence of raw text is a line."""
    classes = np.full(_POINTS, text_arrays.RUN, np.uint8)
    for point in range(_PLAIN):
        character = chr(point)
        category = unicodedata.category(character)
        if category[0] in "PS":
            classes[point] = text_arrays.ALONE
        elif character.isspace() or category in ("Zs", "Zl", "Zp", "Cc"):
            classes[point] = text_arrays.BLANK
    if of_tokens:
        classes[ord(_TOKEN)], classes[ord(_SENTENCE)] = text_arrays.TOKEN, text_arrays.SENTENCE
    else:
        classes[ord("\n")] = text_arrays.SENTENCE
    return classes


@cache
def folding(folded: bool) -> NDArray[np.uint32]:
    """Return uint32[code points]: each character itself; if folded, its lower case, and 0 for every digit."""
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
    """The pieces of a text, as `text_arrays.cut` finds them: piece k is points[start[k]:stop[k]]."""

    points: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    code: NDArray[np.uint64]  # the hash of each piece
    border: NDArray[np.bool_]  # [K + 1], whether a token or the end of a sentence begins there
    ends: NDArray[np.bool_]  # whether a piece is the end of a sentence

    def of_tokens(self, spans: Spans) -> Spans:
        """Turn spans of pieces into spans of tokens, which are counted over all sentences."""
        token = np.cumsum(self.border[:-1] & ~self.ends) - 1
        return Spans(token[spans.start], token[spans.stop - 1] + 1, spans.word)


def pieces_of_text(text: str, folded: bool) -> Pieces:
    """Cut raw text into pieces, each a token; sentences end with a line break."""
    return _cut(text, False, folded)


def pieces_of_tokens(sentences: Sequence[Sequence[str]], folded: bool) -> Pieces:
    """Cut the tokens of sentences into pieces; an empty piece for a token of nothing but blanks."""
    text = "".join(_TOKEN.join([*forms, ""]) + _SENTENCE for forms in sentences)
    if text.count(_TOKEN) + text.count(_SENTENCE) != sum(map(len, sentences)) + len(sentences):
        return pieces_of_tokens([[_HALF.sub("\ufffd", form) for form in forms] for forms in sentences], folded)
    return _cut(text, True, folded)


def _cut(text: str, of_tokens: bool, folded: bool) -> Pieces:
    points = code_points(text).view(np.int32)
    n, classes = len(points), piece_classes(of_tokens)
    start, stop, code = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint64)
    border = np.empty(n + 1, np.bool_)
    count = text_arrays.cut(points, classes, folding(folded), of_tokens, start, stop, code, border)
    ends = classes[points[start[:count]]] == text_arrays.SENTENCE
    return Pieces(points, start[:count], stop[:count], code[:count], border[: count + 1], ends)


class PhraseTrie:
    """Finds phrases of one token or several, except `stop`; if folded, upper and lower case, and all digits, are alike.

    entry int64[P] is the number of each phrase among `size` entries, equal for phrases that are alike; -1 for one that
    is not looked for.
    """

    def __init__(self, phrases: Sequence[str], stop: Sequence[str] = (), folded: bool = False) -> None:
        self.folded = folded
        cut = pieces_of_text("".join(f"{phrase}\n" for phrase in (*phrases, *stop)), folded)
        codes, numbers = np.unique(cut.code[~cut.ends], return_inverse=True)
        ends = np.flatnonzero(cut.ends) - np.arange(int(cut.ends.sum()))
        text = numbers.astype(_NUMBER).tobytes()  # rows of bytes rise as the numbers do
        bounds = (np.concatenate([[0], ends]) * _NUMBER.itemsize).tolist()
        rows = [text[low:high] for low, high in pairwise(bounds)]
        distinct = sorted({*rows[: len(phrases)]}.difference(rows[len(phrases) :], [b""]))
        number = {row: i for i, row in enumerate(distinct)}
        self.entry = np.array([number.get(row, -1) for row in rows[: len(phrases)]], np.int64)
        self.size = len(distinct)
        lengths = np.fromiter(map(len, distinct), np.int64, len(distinct)) // _NUMBER.itemsize
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        symbols = np.frombuffer(b"".join(distinct), _NUMBER).astype(np.int32)
        self._trie = SymbolTrie(symbols, ptr, np.arange(len(distinct), dtype=np.int32), len(codes))
        slots = 1 << max(4, (_FILL * len(codes)).bit_length())
        self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        hashing.place(self._keys, self._values, codes, np.arange(len(codes), dtype=np.int32), slots)

    def numbers(self, cut: Pieces) -> NDArray[np.int32]:
        """Return int32[K]: the number of each piece in the vocabulary, -1 if no phrase has it."""
        numbers = np.empty(len(cut.code), np.int32)
        hashing.find(self._keys, self._values, cut.code, numbers)
        numbers.flags.writeable = False  # as the code points of a text: one compiled kernel serves both
        return numbers

    def match(self, cut: Pieces) -> Spans:
        """Return the phrases that maximum matching finds from left to right, without overlaps: spans of pieces."""
        return self._trie.match(self.numbers(cut), cut.border)

    def occurrences(self, cut: Pieces) -> Spans:
        """Return all occurrences of phrases: spans of pieces."""
        return self._trie.occurrences(self.numbers(cut), cut.border)
