"""The trie of a lexicon as arrays, and the spans of a text where its words occur; the same for any symbols."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import matching as kernels

_POINTS = 0x110000
_RUN = ("Lu", "Ll", "Lt", "Nd", "Mn")


class Spans(NamedTuple):
    """Words in a text, or phrases among tokens, from left to right.

    symbols[start[k]:stop[k]] is the entry with the number word[k]; int64[K], int64[K], int32[K].
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    word: NDArray[np.int32]

    def only(self, chosen: slice | NDArray[Any]) -> Spans:
        """Some of the spans, by a slice, a mask or their numbers."""
        return Spans(self.start[chosen], self.stop[chosen], self.word[chosen])


def code_points(text: str) -> NDArray[np.uint32]:
    """uint32[n], one per character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def run_characters() -> NDArray[np.bool_]:
    """bool[code points]: letters that have case, digits, and marks on them; consecutive ones form a run."""
    category = unicodedata.category
    return np.fromiter((category(chr(point)) in _RUN for point in range(_POINTS)), np.bool_, _POINTS)


class SymbolTrie:
    """A trie of rows of symbols, as arrays for `tagweave.kernels.matching`.

    Args:
        symbols: int32, all rows one after the other, each number below `size`.
        ptr: int64[R + 1], where every row begins; rows are different, not empty, and rise.
        entries: int32[R], the number of each row in matches.
        size: how many symbols there are.
    """

    def __init__(
        self, symbols: NDArray[np.int32], ptr: NDArray[np.int64], entries: NDArray[np.int32], size: int
    ) -> None:
        lengths = np.diff(ptr)
        common, counts = np.zeros(len(lengths), np.int64), np.zeros(lengths.max(initial=0) + 2, np.int64)
        kernels.count_nodes(symbols, ptr, common, counts)
        nodes, following = int(counts.sum()), np.cumsum(counts) - counts
        following = np.append(following, nodes)
        self.root = np.full(size + 1, kernels.NONE, np.int32)
        self.label, self.entry = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
        self.child = np.empty(nodes + 1, np.int32)
        kernels.grow(symbols, ptr, common, following, entries, self.label, self.child, self.entry, self.root)

    def match(self, symbols: NDArray[np.int32], border: NDArray[np.bool_]) -> Spans:
        """The entries that maximum matching finds from left to right, without overlaps.

        `border` bool[n + 1]: whether an entry may begin or end before each symbol, and after the last one.
        """
        return self._spans(kernels.match, symbols, border, len(symbols))

    def occurrences(self, symbols: NDArray[np.int32], border: NDArray[np.bool_]) -> Spans:
        """All occurrences of all entries, overlapping others or not; arguments as for `match`."""
        return self._spans(kernels.occurrences, symbols, border, len(symbols))

    def _spans(
        self, kernel: Callable[..., int], symbols: NDArray[np.int32], border: NDArray[np.bool_], capacity: int
    ) -> Spans:
        """The spans that a kernel finds; `capacity` is that of the first attempt."""
        spans = Spans(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int32))
        count = kernel(symbols, border, self.root, self.label, self.child, self.entry, *spans)
        return spans.only(slice(count)) if count <= capacity else self._spans(kernel, symbols, border, count)


class Trie:
    """The trie of words, whose symbols are their code points.

    Args:
        words: distinct and non-empty.
        numbers: the number of each word in matches.

    Attributes:
        nodes: the trie of code points.
    """

    def __init__(self, words: Sequence[str], numbers: Sequence[int]) -> None:
        order = sorted(range(len(words)), key=words.__getitem__)
        lengths = np.fromiter((len(words[i]) for i in order), np.int64, len(order))
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        points = code_points("".join(words[i] for i in order)).view(np.int32)
        self.nodes = SymbolTrie(points, ptr, np.array([numbers[i] for i in order], np.int32), _POINTS)

    def match(self, points: NDArray[np.uint32]) -> Spans:
        """The words that maximum matching finds from left to right, without overlaps."""
        return self.nodes.match(*_with_borders(points))

    def occurrences(self, points: NDArray[np.uint32]) -> Spans:
        """All occurrences of all words in the text, overlapping others or not."""
        return self.nodes.occurrences(*_with_borders(points))


def _with_borders(points: NDArray[np.uint32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The code points as symbols, and where words may begin and end: not inside a run."""
    symbols, border = points.view(np.int32), np.empty(len(points) + 1, np.bool_)
    kernels.run_borders(symbols, run_characters(), border)
    return symbols, border
