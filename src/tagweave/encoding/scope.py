"""Scope: the labels that come into question at each token, whatever it is annotated with.

Evidence restricts one of the two sums of the loss; the scope restricts both, and every decoding: a label outside it
does not exist there. So a model of very many labels is cut to the few that others hold possible (context-aware pruning:
Li, Chao and Zhang 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Scope:
    """The labels that come into question at each of N tokens.

    Attributes:
        ptr: int64[N + 1], the first entry of every token.
        labels: int32[ptr[N]], its labels, at least one.
    """

    ptr: NDArray[np.int64]
    labels: NDArray[np.int32]

    @classmethod
    def of_mask(cls, mask: NDArray[Any]) -> Scope:
        """From bool[N, Y]; a token with no label has all."""
        mask = mask.astype(bool)
        mask |= ~mask.any(axis=1, keepdims=True)
        tokens, labels = np.nonzero(mask)
        return cls(_pointers(tokens, len(mask)), labels.astype(np.int32))

    @classmethod
    def joined(cls, parts: list[Scope]) -> Scope:
        """The scopes of one run of tokens after the other."""
        ptr = np.concatenate([[0], *(np.diff(part.ptr) for part in parts)])
        labels = [part.labels for part in parts]
        return cls(np.cumsum(ptr).astype(np.int64), np.concatenate([np.zeros(0, np.int32), *labels]))

    @property
    def tokens(self) -> NDArray[np.int64]:
        """int64[entries], the token of every entry."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def take(self, tokens: NDArray[np.int64]) -> Scope:
        """The scope of these tokens, in this order."""
        lengths = np.diff(self.ptr)[tokens]
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(ptr[-1]) + np.repeat(self.ptr[tokens] - ptr[:-1], lengths)
        return Scope(ptr, self.labels[entries])

    def including(self, allow: NDArray[np.int32], masks: NDArray[Any]) -> Scope:
        """With all labels that the evidence of a token allows, where it excludes all that came into question.

        Args:
            allow: int32[N], the label set of every token.
            masks: [sets, Y], the labels of every set.
        """
        tokens = self.tokens
        inside = np.bincount(tokens[masks[allow[tokens], self.labels] > 0], minlength=len(allow))
        empty = np.flatnonzero(inside == 0)
        if not len(empty):
            return self
        rows, more = np.nonzero(masks[allow[empty]])
        of = np.concatenate([tokens, empty[rows]])
        order = np.argsort(of, kind="stable")
        labels = np.concatenate([self.labels, more.astype(np.int32)])[order]
        return Scope(_pointers(of, len(allow)), labels)


def _pointers(tokens: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    lengths = np.bincount(tokens, minlength=count)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
