"""The trie of a lexicon as arrays, and the spans of a text where its words occur."""

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
    """Words in a text, from left to right.

    points[start[k]:stop[k]] is the word with the number word[k]; int64[K], int64[K], int32[K].
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


class Trie:
    """The trie of words, as arrays for `tagweave.kernels.matching`.

    Args:
        words: distinct and non-empty.
        numbers: the number of each word in matches.
    """

    def __init__(self, words: Sequence[str], numbers: Sequence[int]) -> None:
        order = sorted(range(len(words)), key=words.__getitem__)
        points = code_points("".join(words[i] for i in order))
        lengths = np.fromiter((len(words[i]) for i in order), np.int64, len(order))
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        common, counts = np.zeros(len(order), np.int64), np.zeros(lengths.max(initial=0) + 2, np.int64)
        kernels.count_nodes(points, ptr, common, counts)
        size, following = int(counts.sum()), np.cumsum(counts) - counts
        following = np.append(following, size)
        self.root = np.full(_POINTS, kernels.NONE, np.int32)
        self.label, self.word = np.empty(size, np.int32), np.empty(size, np.int32)
        self.child = np.empty(size + 1, np.int32)
        chosen = np.array([numbers[i] for i in order], np.int32)
        kernels.grow(points, ptr, common, following, chosen, self.label, self.child, self.word, self.root)

    def match(self, points: NDArray[np.uint32]) -> Spans:
        """The words that maximum matching finds from left to right, without overlaps."""
        return self._spans(kernels.match, points, len(points))

    def occurrences(self, points: NDArray[np.uint32]) -> Spans:
        """All occurrences of all words in the text, overlapping others or not."""
        return self._spans(kernels.occurrences, points, len(points))

    def _spans(self, kernel: Callable[..., int], points: NDArray[np.uint32], capacity: int) -> Spans:
        """The spans that a kernel finds; `capacity` is that of the first attempt."""
        spans = Spans(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int32))
        count = kernel(points, run_characters(), self.root, self.label, self.child, self.word, *spans)
        return spans.only(slice(count)) if count <= capacity else self._spans(kernel, points, count)
