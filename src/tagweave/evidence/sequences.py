"""Evidence from annotation about the labels of sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.sets import LabelRows


def pointers(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return int64[R + 1]: where R rows of these lengths begin, followed by the end of the last row."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def rows(ptr: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of the rows `order`, consecutively, and the pointers of these rows."""
    lengths = np.diff(ptr)[order]
    new = pointers(lengths)
    return np.arange(new[-1]) + np.repeat(ptr[order] - new[:-1], lengths), new


@dataclass(frozen=True)
class Evidence:
    """Evidence about the labels of S sentences of N tokens."""

    sentence_ptr: NDArray[np.int64]  # [S + 1], the first token of each sentence
    sets: NDArray[np.int32]  # [N], the label set of each token: a row of `rows`; 0 allows all labels
    weights: NDArray[np.float64]  # [S], how often each sentence counts
    ids: NDArray[np.int64]  # [S], the number of each sentence among those that training was given, for messages
    rows: LabelRows | None = None  # the label sets; `None` while no table of them is complete
    # empty, or float64[N], the share of its potential that an excluded label keeps
    noise: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # [R, 5], spans that are known not to be there, by sentence: the number of the sentence, the first token and
    # the one after the last, counted in the sentence; the type (`labels.spans.span_types`), and the number of earlier
    # tokens of the sentence where spans of this type are rejected
    rejected: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 5), np.int32))

    @classmethod
    def unknown(cls, sentence_ptr: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> Evidence:
        count = len(sentence_ptr) - 1
        weights = np.ones(count) if weights is None else weights
        return cls(sentence_ptr, np.zeros(int(sentence_ptr[-1]), np.int32), weights, np.arange(count))

    def __len__(self) -> int:
        return len(self.sentence_ptr) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.sentence_ptr)

    def informative(self) -> NDArray[np.bool_]:
        """Return bool[S]: whether the evidence of a sentence excludes any label at all. The loss of the others is 0."""
        annotated = np.concatenate([[0], np.cumsum(self.sets != 0)])
        informative: NDArray[np.bool_] = annotated[self.sentence_ptr[1:]] > annotated[self.sentence_ptr[:-1]]
        informative[self.rejected[:, 0]] = True
        return informative

    def rejected_in(self, first: int, last: int) -> NDArray[np.int32]:
        """Return the rejected spans of sentences first .. last - 1, which count from 0."""
        if not len(self.rejected):
            return self.rejected
        low, high = np.searchsorted(self.rejected[:, 0], (first, last))
        return self.rejected[low:high] - np.array([first, 0, 0, 0, 0], np.int32)

    def part(self, first: int, last: int) -> Evidence:
        """Return sentences first .. last - 1; all but pointers and rejected spans are views."""
        ptr = self.sentence_ptr[first : last + 1]
        tokens = slice(ptr[0], ptr[-1])
        return Evidence(
            ptr - ptr[0],
            self.sets[tokens],
            self.weights[first:last],
            self.ids[first:last],
            self.rows,
            self.noise[tokens],
            self.rejected_in(first, last),
        )

    def take(self, order: NDArray[np.int64]) -> Evidence:
        tokens, ptr = rows(self.sentence_ptr, order)
        spans, span_ptr = rows(np.searchsorted(self.rejected[:, 0], np.arange(len(self) + 1)), order)
        rejected = self.rejected[spans]
        rejected[:, 0] = np.repeat(np.arange(len(order)), np.diff(span_ptr))
        return Evidence(
            ptr,
            self.sets[tokens],
            self.weights[order],
            self.ids[order],
            self.rows,
            self.noise[tokens] if len(self.noise) else self.noise,
            rejected,
        )

    def under(self, rows: LabelRows | None) -> Evidence:
        return replace(self, rows=rows)
