"""The training sentences that made a model say something: those that share most of the features that speak for it.

    similarity(t, t') = sum over features that both tokens have of |value * (w[feature, y_t] - w[feature, y'_t])|

A sentence counts by its most similar token for each token that is explained.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.explanation.explanation import Contribution, Example
from tagweave.features.encoder import Encoder
from tagweave.models.scorer import Floats

_SENTENCES = 3
_AROUND = 6  # tokens shown before and after the most similar one


class TrainingText:
    """A corpus in the features of a model; `layer` has its annotation."""

    def __init__(self, encoder: Encoder, corpus: Corpus, layer: str) -> None:
        plain, self._sentences = encoder.plain(corpus.sentences)
        self._encoded = plain.encode(self._sentences)
        self._features = len(plain.windows)
        self._layer, self._path = layer, corpus.path

    def similar(self, contributions: Sequence[Contribution]) -> tuple[Example, ...]:
        """Return the sentences whose tokens share most of the features that contribute."""
        named = [one for one in contributions if one.feature >= 0]
        tokens, ptr = sorted({one.token for one in named}), self._encoded.sentence_ptr
        filled = np.flatnonzero(np.diff(ptr))
        if not tokens or not len(filled):
            return ()
        table = np.stack([self._similarity([one for one in named if one.token == token]) for token in tokens])
        of_sentences = np.maximum.reduceat(table, ptr[filled], axis=1).sum(axis=0)
        examples = []
        for at in np.argsort(-of_sentences, kind="stable")[:_SENTENCES].tolist():
            if of_sentences[at] > 0:
                of_tokens = table[:, ptr[filled[at]] : ptr[filled[at] + 1]].max(axis=0)
                examples.append(self._example(int(filled[at]), int(of_tokens.argmax())))
        return tuple(examples)

    def _similarity(self, contributions: Sequence[Contribution]) -> Floats:
        """Return float64[N]: of every token, the sum of the contributions whose features it has."""
        encoded = self._encoded
        most = 1 + max((one.position for one in contributions), default=0)
        weight = np.zeros((most, self._features + 1))  # the last one is of unknown features, -1
        for one in contributions:
            weight[one.position, one.feature] += abs(one.score)
        of_types = np.concatenate([[0.0], np.cumsum(weight[0, encoded.type_features])])[encoded.type_ptr]
        similarity: Floats = np.diff(of_types)[encoded.word_types]
        sentence = np.repeat(np.arange(len(encoded)), encoded.lengths)
        rows = np.arange(encoded.tokens) + sentence * encoded.outer_anchors + encoded.lead  # the anchors of tokens
        for k in range(encoded.grams.shape[1]):
            for offset in range(int(encoded.low[k]), int(encoded.high[k]) + 1):
                if (position := int(encoded.high[k]) - offset) < most:
                    similarity += weight[position, encoded.grams[rows + offset, k]]
        return similarity

    def _example(self, number: int, at: int) -> Example:
        sentence = self._sentences[number]
        forms, candidates = sentence.forms, None
        if self._layer in sentence.layers:
            candidates = sentence.layers[self._layer][at]
        path, line = sentence.location
        place = f"{path or self._path or 'sentence'}:{line or number + 1}"
        before, after = " ".join(forms[max(0, at - _AROUND) : at]), " ".join(forms[at + 1 :][:_AROUND])
        return Example(place, before, forms[at], "|".join(candidates or "?"), after)
