"""Candidate labels: the labels that a model considers at each token, whatever the annotation.

Evidence restricts one of the two sums of the loss; candidate labels restrict both, and every decoding. They cut a model
with very many labels to the few that other models find possible (context-aware pruning: Li, Chao and Zhang 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.ragged import pointers, rows

_TOKENS = 1 << 14  # processed at a time, since they may have a hundred times as many labels


@dataclass(frozen=True)
class CandidateLabels:
    """The candidate labels of each of N tokens.

    Attributes:
        ptr: int64[N + 1], the first entry of every token.
        labels: int32[ptr[N]], its labels; at least one per token.
    """

    ptr: NDArray[np.int64]
    labels: NDArray[np.int32]

    @classmethod
    def of_mask(cls, mask: NDArray[Any]) -> CandidateLabels:
        """From bool[N, Y]; a token without any label gets all."""
        mask = mask.astype(bool)
        mask |= ~mask.any(axis=1, keepdims=True)
        tokens, labels = np.nonzero(mask)
        return cls(pointers(np.bincount(tokens, minlength=len(mask))), labels.astype(np.int32))

    @classmethod
    def concatenate(cls, parts: list[CandidateLabels]) -> CandidateLabels:
        """The candidates of consecutive runs of tokens."""
        lengths = [np.diff(part.ptr) for part in parts]
        labels = [part.labels for part in parts]
        none = np.zeros(0, np.int32)
        return cls(pointers(np.concatenate([none, *lengths])), np.concatenate([none, *labels]))

    def take(self, tokens: NDArray[np.int64]) -> CandidateLabels:
        """The candidates of these tokens, in this order."""
        entries, ptr = rows(self.ptr, tokens)
        return CandidateLabels(ptr, self.labels[entries])

    def including(self, allow: NDArray[np.int32], masks: NDArray[Any]) -> CandidateLabels:
        """These candidates; where the evidence of a token excludes all of them, plus all labels that it allows.

        Args:
            allow: int32[N], the label set of every token.
            masks: [sets, Y], the labels of every set.
        """
        empty = np.flatnonzero(~self._meets(allow, masks))
        if not len(empty):
            return self
        which, more = np.nonzero(masks[allow[empty]])
        counts, lengths = np.bincount(which, minlength=len(empty)), np.diff(self.ptr)
        lengths[empty] += counts
        at = np.repeat(self.ptr[empty + 1], counts)
        return CandidateLabels(pointers(lengths), np.insert(self.labels, at, more.astype(np.int32)))

    def _meets(self, allow: NDArray[np.int32], masks: NDArray[Any]) -> NDArray[np.bool_]:
        """bool[N]: whether the evidence of a token allows any of its labels."""
        meets = np.zeros(len(allow), bool)
        for low in range(0, len(allow), _TOKENS):
            ptr = self.ptr[low : low + _TOKENS + 1]
            sets = np.repeat(allow[low : low + _TOKENS], np.diff(ptr))
            inside = masks[sets, self.labels[ptr[0] : ptr[-1]]] > 0
            meets[low : low + _TOKENS] = np.logical_or.reduceat(inside, ptr[:-1] - ptr[0])
        return meets
