"""Encoded corpora: sentences as arrays, with no string in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.ragged import rows
from tagweave.features.scope import Scope

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """S sentences of N tokens as a struct of arrays.

    Attributes:
        sentence_ptr: int64[S + 1], the first token of every sentence.
        kinds: int32[N], the kind (distinct word form, or distinct list of attributes) of every token.
        kind_ptr, kind_features: int64[V + 1] and int32, the features of every kind.
        kind_values: empty, or float64, one factor for each of `kind_features`.
        grams: int32[M, K], the gram of every family at every anchor, -1 where there is none that the index knows.
        lead: how many anchors stand before the first token of a sentence; M = N + S (lead + trail).
        low, high: int64[K], the smallest and largest offset of an anchor from a token that sees it.
        allow: int32[N], the label set of every token; 0 allows all.
        doubt: empty, or float64[N], the share of its score that an excluded label keeps.
        weights: float64[S], how often each sentence counts.
        scope: the labels that come into question at each token; `None`: all.
    """

    sentence_ptr: NDArray[np.int64]
    kinds: Ints
    kind_ptr: NDArray[np.int64]
    kind_features: Ints
    kind_values: NDArray[np.float64]
    grams: Ints
    lead: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    allow: Ints
    doubt: NDArray[np.float64]
    weights: NDArray[np.float64]
    scope: Scope | None = None

    def __len__(self) -> int:
        return len(self.sentence_ptr) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return len(self.kinds)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[S], the tokens of each sentence."""
        return np.diff(self.sentence_ptr)

    @property
    def outer_anchors(self) -> int:
        """How many anchors of a sentence stand outside it, before and after: lead + trail."""
        return (len(self.grams) - self.tokens) // max(1, len(self))

    def informative(self) -> NDArray[np.bool_]:
        """bool[S]: whether the evidence of a sentence excludes any label at all. The loss of the others is 0."""
        known = np.concatenate([[0], np.cumsum(self.allow != 0)])
        return known[self.sentence_ptr[1:]] > known[self.sentence_ptr[:-1]]

    def take(self, order: NDArray[np.int64]) -> Encoded:
        """The sentences `order`, in this order."""
        tokens, ptr = rows(self.sentence_ptr, order)
        anchors, _ = rows(self.sentence_ptr + np.arange(len(self) + 1) * self.outer_anchors, order)
        return replace(
            self,
            sentence_ptr=ptr,
            kinds=self.kinds[tokens],
            grams=self.grams[anchors],
            allow=self.allow[tokens],
            doubt=self.doubt[tokens] if len(self.doubt) else self.doubt,
            weights=self.weights[order],
            scope=self.scope and self.scope.take(tokens),
        )

    def with_evidence(self, allow: Ints) -> Encoded:
        """The same sentences under other evidence."""
        return replace(self, allow=allow)

    def in_scope(self, masks: NDArray[Any]) -> Encoded:
        """The same sentences with a scope in which every token has a label that its evidence allows.

        masks [sets, Y] are the label sets that `allow` numbers.
        """
        return self if self.scope is None else replace(self, scope=self.scope.including(self.allow, masks))
