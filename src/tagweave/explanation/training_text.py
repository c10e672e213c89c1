"""The training sentences that made a model say something: those that share most of the features that speak for it.

    similarity(t, t') = sum over features that both tokens have of |value * (w[feature, y_t] - w[feature, y'_t])|

A sentence counts by its most similar token for each token that is explained.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.explanation.explanation import Contribution, Example
from tagweave.features.encoder import Encoder
from tagweave.models.scorer import Floats

_SENTENCES = 3
_AROUND = 6  # tokens shown before and after the most similar one


class TrainingText:
    """A corpus in the features of a model; `layer`: its annotation, `None` without."""

    def __init__(self, encoder: Encoder, corpus: Corpus, layer: str | None) -> None:
        plain, self._sentences = encoder.plain(corpus.sentences)
        self._encoded = plain.encode(self._sentences)
        self._features = len(plain.windows)
        self._layer, self._path = layer, corpus.path

    def similar(self, contributions: Sequence[Contribution]) -> tuple[Example, ...]:
        """Return the sentences whose tokens share most of the features that contribute."""
        named = [contribution for contribution in contributions if contribution.feature >= 0]
        ptr = self._encoded.sentence_ptr
        filled = np.flatnonzero(np.diff(ptr))
        of_sentences, place = np.zeros(len(filled)), np.zeros(len(filled), np.int64)
        strongest = np.zeros(len(filled))
        for token in sorted({contribution.token for contribution in named}):
            of_tokens = self._similarity([one for one in named if one.token == token])
            most = np.maximum.reduceat(of_tokens, ptr[filled]) if len(filled) else of_tokens
            tokens = np.flatnonzero(of_tokens == np.repeat(most, np.diff(ptr)[filled]))
            first = tokens[np.searchsorted(tokens, ptr[filled])]
            place = np.where(most > strongest, first, place)
            strongest = np.maximum(most, strongest)
            of_sentences += most
        chosen = np.argsort(-of_sentences, kind="stable")[:_SENTENCES]
        return tuple(self._example(int(filled[at]), int(place[at])) for at in chosen if of_sentences[at] > 0)

    def _similarity(self, contributions: Sequence[Contribution]) -> Floats:
        """Return float64[N]: of every token, the sum of the contributions whose features it has."""
        encoded = self._encoded
        most = 1 + max((one.position for one in contributions), default=0)
        weight = np.zeros((most, self._features + 1))  # the last one is of unknown features, -1
        for one in contributions:
            weight[one.position, one.feature] += abs(one.score)
        of_types = np.concatenate([[0.0], np.cumsum(weight[0, encoded.type_features])])[encoded.type_ptr]
        similarity: Floats = np.diff(of_types)[encoded.word_types]
        rows = self._rows()
        for k in range(encoded.grams.shape[1]):
            for offset in range(int(encoded.low[k]), int(encoded.high[k]) + 1):
                if (position := int(encoded.high[k]) - offset) < most:
                    similarity += weight[position, encoded.grams[rows + offset, k]]
        return similarity

    def _rows(self) -> NDArray[np.int64]:
        """Return int64[N]: the anchor of every token."""
        encoded = self._encoded
        sentence = np.repeat(np.arange(len(encoded)), encoded.lengths)
        return np.arange(encoded.tokens) + sentence * encoded.outer_anchors + encoded.lead

    def _example(self, number: int, token: int) -> Example:
        sentence = self._sentences[number]
        at = token - int(self._encoded.sentence_ptr[number])
        forms, candidates = sentence.forms, None
        if self._layer is not None:
            candidates = sentence.layers.get(self._layer, (None,) * len(forms))[at]
        before, after = forms[max(0, at - _AROUND) : at], forms[at + 1 : at + 1 + _AROUND]
        path, line = sentence.location
        place = f"{path or self._path or 'sentence'}:{line or number + 1}"
        label = "|".join(candidates) if candidates else "?"
        return Example(place, " ".join(before), forms[at], label, " ".join(after))
