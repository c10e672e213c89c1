"""The corpora of one training run: those of the target guideline, and those of the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reproductions.lab.corpora import Parts, digest
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Schedule


@dataclass(frozen=True)
class Pair:
    """What a method learns from, and what it is measured on.

    Attributes:
        name: where it is from.
        target: of the guideline that is wanted. What else the sentences of dev and test are annotated with is shown to
            a model that labels them.
        source: of the other guideline.
        sample: N' and M' of Algorithm 1, or () for all sentences in every iteration.
        schedule: the budget of every training.
    """

    name: str
    target: Parts
    source: Parts
    sample: tuple[int, ...]
    schedule: Schedule

    @cached_property
    def digests(self) -> list[str]:
        """What tells these corpora from others."""
        return [digest(part) for parts in (self.target, self.source) for part in parts]


def with_layers(corpus: Corpus, *layers: str) -> Corpus:
    """The corpus with these layers alone."""
    return corpus.map(lambda s: replace(s, layers={name: s.layers[name] for name in layers if name in s.layers}))


def halves(corpus: Corpus, first: str, second: str, seed: int) -> tuple[Corpus, Corpus]:
    """A corpus with two layers as two corpora of one each: a random half of its sentences, and the other half."""
    chosen = np.random.default_rng(seed).permutation(len(corpus)) < len(corpus) // 2

    def half(guideline: str, which: bool) -> Corpus:
        own = (sentence for sentence, choose in zip(corpus, chosen, strict=True) if choose == which)
        return with_layers(replace(corpus, sentences=tuple(own), guideline=guideline), guideline)

    return half(first, True), half(second, False)


def retagged(corpus: Corpus, names: dict[str, str]) -> Corpus:
    """The corpus with other names for tags; those that are missing stay."""

    def step(sentence: Sentence) -> Sentence:
        layer = sentence.layers[corpus.guideline]
        renamed = (c and tuple(dict.fromkeys(names.get(tag, tag) for tag in c)) for c in layer)
        return sentence.with_layer(corpus.guideline, renamed)

    return corpus.map(step)
