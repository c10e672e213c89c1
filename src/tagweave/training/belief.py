"""How far the labels of spans in training data are believed, and `O` where nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.features.evidence import OUTSIDE


def believed(corpora: Sequence[Corpus], spans: float, outside: float) -> Sequence[Corpus]:
    """The corpora with a confidence in labels of spans, and one in `O`, each times that of the sentence."""
    if spans == outside == 1:
        return corpora

    def step(guideline: str, sentence: Sentence) -> Sentence:
        own = sentence.confidence or (1.0,) * len(sentence)
        labels = sentence.layers.get(guideline, (None,) * len(sentence))
        pairs = zip(own, labels, strict=True)
        return replace(sentence, confidence=tuple(given * _of(label, spans, outside) for given, label in pairs))

    return [corpus.map(partial(step, corpus.guideline)) for corpus in corpora]


def _of(candidates: Candidates, spans: float, outside: float) -> float:
    if candidates is None:
        return 1.0
    return outside if candidates == (OUTSIDE,) else spans


def outside_elsewhere(corpus: Corpus, confidence: float = 1.0) -> Corpus:
    """The corpus with `O` at unknown positions, believed with a confidence."""

    def step(sentence: Sentence) -> Sentence:
        layer = sentence.layers.get(corpus.guideline, (None,) * len(sentence))
        filled = sentence.with_layer(corpus.guideline, [(OUTSIDE,) if each is None else each for each in layer])
        if confidence == 1:
            return filled
        own = sentence.confidence or (1.0,) * len(sentence)
        known = zip(own, layer, strict=True)
        return replace(filled, confidence=tuple(confidence if each is None else given for given, each in known))

    return corpus.map(step)
