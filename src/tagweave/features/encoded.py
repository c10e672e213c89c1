"""Encoded corpora: the features of sentences as arrays, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence, rows
from tagweave.labels.sets import LabelRows

Ints = NDArray[np.int32]
_CHUNK = 1 << 16  # anchors


@dataclass(frozen=True)
class Encoded:
    """The features of S sentences of N tokens as a struct of arrays."""

    evidence: Evidence  # the sentences and what is known of their labels
    # int32[N], the word type (distinct word form, or distinct list of attributes) of every token; numbered anew for
    # each corpus, unlike features
    word_types: Ints
    type_ptr: NDArray[np.int64]  # [V + 1]
    type_features: Ints  # of every word type
    type_values: NDArray[np.float64]  # empty, or float64, one factor for each of `type_features`
    grams: Ints  # int32[M, K], the gram of every family at every anchor, -1 where the index has none
    lead: int  # how many anchors a sentence has before its first token; M = N + S (lead + trail)
    low: NDArray[np.int64]  # [K], the smallest offset of an anchor from a token that sees it
    high: NDArray[np.int64]  # [K], the largest
    # the pieces of every word type, for a network: int64[V + 1] and int32; empty without one
    piece_ptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    pieces: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def sentence_ptr(self) -> NDArray[np.int64]:
        return self.evidence.sentence_ptr

    @property
    def tokens(self) -> int:
        return len(self.word_types)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self.evidence.lengths

    @property
    def outer_anchors(self) -> int:
        """How many anchors of a sentence lie outside it, before and after: lead + trail."""
        return (len(self.grams) - self.tokens) // max(1, len(self))

    def occurrences(self, count: int) -> NDArray[np.int64]:
        """Return how often each of so many features occurs, int64[count]."""
        counts = np.zeros(count + 1, np.int64)  # the first one for what the index does not have
        for low in range(0, len(self.grams), _CHUNK):
            counts += np.bincount(self.grams[low : low + _CHUNK].reshape(-1) + 1, minlength=count + 1)
        of_types = np.bincount(self.word_types, minlength=len(self.type_ptr) - 1)
        of_types = np.repeat(of_types, np.diff(self.type_ptr))
        np.add.at(counts, self.type_features + 1, of_types)
        return counts[1:]

    def take(self, order: NDArray[np.int64]) -> Encoded:
        tokens, _ = rows(self.sentence_ptr, order)
        anchors, _ = rows(self.sentence_ptr + np.arange(len(self) + 1) * self.outer_anchors, order)
        evidence, word_types, grams = self.evidence.take(order), self.word_types[tokens], self.grams[anchors]
        return replace(self, evidence=evidence, word_types=word_types, grams=grams)

    def with_evidence(self, sets: Ints, **others: Any) -> Encoded:
        return replace(self, evidence=replace(self.evidence, sets=sets, **others))

    def under(self, rows: LabelRows) -> Encoded:
        return replace(self, evidence=self.evidence.under(rows))
