"""The source corpus of an experiment: sentences of a newspaper, a random sample of them (5.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

FULL_STOP = "。"


def in_sentences(corpus: Corpus) -> Corpus:
    """Paragraphs of words, each cut after every full stop (5.1); of their layers that of the guideline is kept."""
    return corpus.with_sentences(part for paragraph in corpus for part in _cut(paragraph, corpus.guideline))


def _cut(paragraph: Sentence, guideline: str) -> Iterator[Sentence]:
    layer, begin = paragraph.layers.get(guideline), 0
    for end, form in enumerate(paragraph.forms, 1):
        if form == FULL_STOP or end == len(paragraph.forms):
            layers = {guideline: layer[begin:end]} if layer is not None else {}
            yield Sentence(paragraph.forms[begin:end], layers, location=paragraph.location)
            begin = end


def some(corpus: Corpus, count: int, seed: int) -> Corpus:
    """So many random sentences, in their order; all where there are no more."""
    chosen = np.random.default_rng(seed).permutation(len(corpus))[:count]
    return corpus.with_sentences(corpus.sentences[at] for at in sorted(chosen.tolist()))
