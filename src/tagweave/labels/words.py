"""Scores of segmentations directly from arrays of labels, by the words that gold and system share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.transition_scheme import split_label


class WordCounter:
    """Counts the words that two label sequences over the same characters have in common.

    Args:
        names: the labels, `LETTER` or `LETTER-TAG`.
        sentence_ptr: int64[S + 1], the first character of every sentence.
    """

    def __init__(self, names: Sequence[str], sentence_ptr: NDArray[np.int64]) -> None:
        letters, kinds = [split_label(name)[0] for name in names], [split_label(name)[1] for name in names]
        tags = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
        self._begins = np.array([letter in "BS" for letter in letters] + [False])
        self._ends = np.array([letter in "ES|" for letter in letters] + [False])
        self._tag = np.array([tags[kind] for kind in kinds] + [-1])
        self._first = np.zeros(int(sentence_ptr[-1]) + 1, bool)
        self._first[sentence_ptr] = True

    def words(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """A number for each word that identifies its start, end and tag, rising. Label -1 means no label."""
        starts = self._first[:-1] | self._begins[labels]
        starts[1:] |= self._ends[labels[:-1]]
        at = np.flatnonzero(starts)
        ends = np.append(at[1:], len(labels))
        numbers: NDArray[np.int64] = (at * (len(labels) + 1) + ends) * (len(self._tag) + 1) + self._tag[labels[at]]
        return numbers

    def f_score(self, gold: NDArray[np.int32], system: NDArray[np.int32]) -> float:
        """The F measure of the system's words, 0 to 1."""
        gold_words, system_words = self.words(gold), self.words(system)
        right = len(np.intersect1d(gold_words, system_words, assume_unique=True))
        return 2 * right / max(1, len(gold_words) + len(system_words))
