"""Uncertain heads in training trees: an excluded head keeps 1 - confidence of its potential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import HeadLayer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.features.arcs import EncodedArcs
from tagweave.features.noise import token_noise


def without_disbelieved(sentences: Sequence[Sentence], layer: str) -> list[Sentence]:
    """The sentences without the arcs of confidence 0, which carry no evidence."""
    return [
        replace(s, heads={**s.heads, layer: _believed(s, s.heads[layer])})
        if s.confidence is not None and 0 in s.confidence and layer in s.heads
        else s
        for s in sentences
    ]


def head_noise(sentences: Sequence[Sentence], layer: str) -> NDArray[np.float64]:
    """As `token_noise`, divided by the largest number of the candidates, as these are. Posteriors have no noise."""
    noise = token_noise(sentences)
    if len(noise):
        heads = (each for s in sentences for each in s.heads.get(layer) or (None,) * len(s))
        noise /= [max(each.numbers) if isinstance(each, Soft) else 1 for each in heads]
    return noise


def with_noise(encoded: EncodedArcs, sentences: Sequence[Sentence], layer: str) -> EncodedArcs:
    """The encoded sentences with the share of its potential that the confidence of a token leaves an excluded head."""
    noise = head_noise(sentences, layer)
    return replace(encoded, noise=np.insert(noise, encoded.token_ptr[:-1], 0)) if noise.any() else encoded


def _believed(sentence: Sentence, heads: HeadLayer) -> HeadLayer:
    confidence = sentence.confidence or ()
    return tuple(candidates if each > 0 else None for candidates, each in zip(heads, confidence, strict=True))
