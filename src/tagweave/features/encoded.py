"""Encoded corpora: sentences as numeric arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.candidate_labels import CandidateLabels
from tagweave.features.ragged import pointers, rows

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """S sentences of N tokens as a struct of arrays.

    Attributes:
        sentence_ptr: int64[S + 1], the first token of every sentence.
        word_types: int32[N], the word type (distinct word form, or distinct list of attributes) of every token.
        type_ptr, type_features: int64[V + 1] and int32, the features of every word type.
        type_values: empty, or float64, one factor for each of `type_features`.
        grams: int32[M, K], the gram of every family at every anchor, -1 where the index has none.
        lead: how many anchors a sentence has before its first token; M = N + S (lead + trail).
        low, high: int64[K], the smallest and largest offset of an anchor from a token that sees it.
        allow: int32[N], the label set of every token; 0 allows all.
        noise: empty, or float64[N], the share of its score that an excluded label keeps.
        weights: float64[S], how often each sentence counts.
        candidates: the candidate labels of each token; `None`: all.
        rejected: int32[R, 5], spans that are known not to be there, by sentence: the number of the sentence, the first
            token and the one after the last, counted in the sentence; the type (`labels.split_labels.span_types`), and
            the number of earlier tokens of the sentence where spans of this type are rejected.
    """

    sentence_ptr: NDArray[np.int64]
    word_types: Ints
    type_ptr: NDArray[np.int64]
    type_features: Ints
    type_values: NDArray[np.float64]
    grams: Ints
    lead: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    allow: Ints
    noise: NDArray[np.float64]
    weights: NDArray[np.float64]
    candidates: CandidateLabels | None = None
    rejected: Ints = field(default_factory=lambda: np.zeros((0, 5), np.int32))

    def __len__(self) -> int:
        return len(self.sentence_ptr) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return len(self.word_types)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[S], the tokens of each sentence."""
        return np.diff(self.sentence_ptr)

    @property
    def outer_anchors(self) -> int:
        """How many anchors of a sentence lie outside it, before and after: lead + trail."""
        return (len(self.grams) - self.tokens) // max(1, len(self))

    def informative(self) -> NDArray[np.bool_]:
        """bool[S]: whether the evidence of a sentence excludes any label at all. The loss of the others is 0."""
        known = np.concatenate([[0], np.cumsum(self.allow != 0)])
        informative: NDArray[np.bool_] = known[self.sentence_ptr[1:]] > known[self.sentence_ptr[:-1]]
        informative[self.rejected[:, 0]] = True
        return informative

    def rejected_in(self, first: int, last: int) -> Ints:
        """Return the rejected spans of sentences first .. last - 1, which count from 0."""
        low, high = np.searchsorted(self.rejected[:, 0], (first, last))
        return self.rejected[low:high] - np.array([first, 0, 0, 0, 0], np.int32)

    def take(self, order: NDArray[np.int64]) -> Encoded:
        """The sentences `order`, in this order."""
        tokens, ptr = rows(self.sentence_ptr, order)
        anchors, _ = rows(self.sentence_ptr + np.arange(len(self) + 1) * self.outer_anchors, order)
        spans, span_ptr = rows(np.searchsorted(self.rejected[:, 0], np.arange(len(self) + 1)), order)
        rejected = self.rejected[spans]
        rejected[:, 0] = np.repeat(np.arange(len(order)), np.diff(span_ptr))
        return replace(
            self,
            sentence_ptr=ptr,
            word_types=self.word_types[tokens],
            grams=self.grams[anchors],
            allow=self.allow[tokens],
            noise=self.noise[tokens] if len(self.noise) else self.noise,
            weights=self.weights[order],
            candidates=self.candidates and self.candidates.take(tokens),
            rejected=rejected,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, without candidate labels."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    @classmethod
    def joined(cls, parts: Sequence[Encoded]) -> Encoded:
        """The sentences of several encoded corpora without candidate labels, whose word types stay their own."""
        types = np.cumsum([0, *(len(part.type_ptr) - 1 for part in parts)])
        sentences = np.cumsum([0, *map(len, parts)])
        has_noise = any(len(part.noise) for part in parts)
        return replace(
            parts[0],
            sentence_ptr=pointers(np.concatenate([part.lengths for part in parts])),
            word_types=np.concatenate([part.word_types + np.int32(n) for part, n in zip(parts, types, strict=False)]),
            type_ptr=pointers(np.concatenate([np.diff(part.type_ptr) for part in parts])),
            type_features=np.concatenate([part.type_features for part in parts]),
            type_values=np.concatenate([part.type_values for part in parts]),
            grams=np.concatenate([part.grams for part in parts]),
            allow=np.concatenate([part.allow for part in parts]),
            noise=np.concatenate([_filled(part.noise, part.tokens if has_noise else 0) for part in parts]),
            weights=np.concatenate([part.weights for part in parts]),
            rejected=np.concatenate(
                [part.rejected_in(-n, len(part)) for part, n in zip(parts, sentences, strict=False)]
            ),
        )

    def with_evidence(self, allow: Ints) -> Encoded:
        """The same sentences under other evidence."""
        return replace(self, allow=allow)

    def including_allowed(self, masks: NDArray[Any]) -> Encoded:
        """The same sentences, in which every token has a candidate label that its evidence allows.

        `masks` [sets, Y] are the label sets to which `allow` refers by number.
        """
        return (
            self if self.candidates is None else replace(self, candidates=self.candidates.including(self.allow, masks))
        )


def _filled(noise: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return noise if len(noise) else np.zeros(size)
