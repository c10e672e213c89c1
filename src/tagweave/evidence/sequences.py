"""Evidence from annotation about the labels of sentences.

Candidate labels are the only ones that a model considers at a token, whatever the annotation. Evidence restricts one
of the two sums of the loss; candidates restrict both, and every decoding. They cut a model with very many labels to the
few that other models find possible (context-aware pruning: Li, Chao and Zhang 2016).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.sets import LabelRows

_TOKENS = 1 << 14  # processed at a time, since they may have a hundred times as many labels


def pointers(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return int64[R + 1]: where R rows of these lengths begin, followed by the end of the last row."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def rows(ptr: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of the rows `order`, consecutively, and the pointers of these rows."""
    lengths = np.diff(ptr)[order]
    new = pointers(lengths)
    return np.arange(new[-1]) + np.repeat(ptr[order] - new[:-1], lengths), new


@dataclass(frozen=True)
class CandidateLabels:
    """The candidate labels of N tokens."""

    ptr: NDArray[np.int64]  # [N + 1], the first entry of each token
    labels: NDArray[np.int32]  # int32, the labels; at least one per token

    @classmethod
    def of_mask(cls, mask: NDArray[Any]) -> CandidateLabels:
        """Make candidates from bool[N, Y]; a token without any label gets all."""
        mask = mask.astype(bool)
        mask |= ~mask.any(axis=1, keepdims=True)
        tokens, labels = np.nonzero(mask)
        return cls(pointers(np.bincount(tokens, minlength=len(mask))), labels.astype(np.int32))

    @classmethod
    def concatenate(cls, parts: list[CandidateLabels]) -> CandidateLabels:
        lengths = [np.diff(candidates.ptr) for candidates in parts]
        labels = [candidates.labels for candidates in parts]
        none = np.zeros(0, np.int32)
        return cls(pointers(np.concatenate([none, *lengths])), np.concatenate([none, *labels]))

    def take(self, tokens: NDArray[np.int64]) -> CandidateLabels:
        entries, ptr = rows(self.ptr, tokens)
        return CandidateLabels(ptr, self.labels[entries])

    def including(self, sets: NDArray[np.int32], masks: NDArray[Any]) -> CandidateLabels:
        """Add to each token whose evidence, `masks[sets]`, excludes all its candidates the labels that it allows."""
        meets = np.zeros(len(sets), bool)  # whether the evidence of a token allows any of its labels
        for low in range(0, len(sets), _TOKENS):
            ptr = self.ptr[low : low + _TOKENS + 1]
            of_entry = np.repeat(sets[low : low + _TOKENS], np.diff(ptr))
            inside = masks[of_entry, self.labels[ptr[0] : ptr[-1]]] > 0
            meets[low : low + _TOKENS] = np.logical_or.reduceat(inside, ptr[:-1] - ptr[0])
        empty = np.flatnonzero(~meets)
        if not len(empty):
            return self
        which, more = np.nonzero(masks[sets[empty]])
        counts, lengths = np.bincount(which, minlength=len(empty)), np.diff(self.ptr)
        lengths[empty] += counts
        at = np.repeat(self.ptr[empty + 1], counts)
        return CandidateLabels(pointers(lengths), np.insert(self.labels, at, more.astype(np.int32)))


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
    candidates: CandidateLabels | None = None  # the candidate labels of each token; `None`: all
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
        tokens, candidates = slice(ptr[0], ptr[-1]), self.candidates
        return Evidence(
            ptr - ptr[0],
            self.sets[tokens],
            self.weights[first:last],
            self.ids[first:last],
            self.rows,
            self.noise[tokens],
            candidates and CandidateLabels(candidates.ptr[tokens.start : tokens.stop + 1], candidates.labels),
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
            self.candidates and self.candidates.take(tokens),
            rejected,
        )

    def under(self, rows: LabelRows | None) -> Evidence:
        return replace(self, rows=rows)

    def including_allowed(self) -> Evidence:
        """Return evidence in which each token has a candidate label that its label set allows."""
        if self.candidates is None or self.rows is None:
            return self
        return replace(self, candidates=self.candidates.including(self.sets, self.rows.masks))
