"""The corpora of one training run: those of the target guideline, and those of the source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.learning.loop import Schedule

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Parts:
    """A corpus in three parts."""

    train: Corpus
    dev: Corpus
    test: Corpus

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and tokens each part has."""
        return {name: [len(part), part.tokens()] for name, part in zip(PARTS, self, strict=True)}

    def __iter__(self) -> Iterator[Corpus]:
        return iter((self.train, self.dev, self.test))


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
        return [_digest(part) for parts in (self.target, self.source) for part in parts]


def _digest(corpus: Corpus) -> str:
    digest = hashlib.sha256(corpus.guideline.encode())
    for sentence in corpus:
        digest.update(repr((sentence.forms, sorted(sentence.layers.items()))).encode())
    return digest.hexdigest()[:12]


def read_parts(folder: Path, guideline: str, layer: str = "") -> Parts:
    """The corpora train, dev and test of a folder, in any format, their layer under the name of the guideline.

    Raises:
        CorpusError: the folder does not have exactly one file of each; and as `load`.
        OSError: a file cannot be read.
    """
    files = [_file(folder, part) for part in PARTS]
    train, dev, test = (load(f"{guideline}={file}{layer and '#'}{layer}") for file in files)
    return Parts(train, dev, test)


def _file(folder: Path, part: str) -> Path:
    found = sorted(folder.glob(f"{part}.*"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "no file"
        raise CorpusError(f"{names} of the name {part}", "one of each of train, dev and test", str(folder))
    return found[0]


def with_layers(corpus: Corpus, *layers: str) -> Corpus:
    """The corpus with these layers alone."""
    return corpus.map(lambda s: replace(s, layers={name: s.layers[name] for name in layers if name in s.layers}))


def share_of(corpus: Corpus, share: float, seed: int) -> Corpus:
    """A random share of the sentences, in their order."""
    chosen = np.random.default_rng(seed).permutation(len(corpus)) < round(share * len(corpus))
    return corpus.with_sentences(sentence for sentence, choose in zip(corpus, chosen, strict=True) if choose)


def halves(corpus: Corpus, first: str, second: str, seed: int) -> tuple[Corpus, Corpus]:
    """A corpus with two layers as two corpora of one each: a random half of its sentences, and the other half."""
    chosen = np.random.default_rng(seed).permutation(len(corpus)) < len(corpus) // 2

    def half(guideline: str, which: bool) -> Corpus:
        own = (sentence for sentence, choose in zip(corpus, chosen, strict=True) if choose == which)
        return with_layers(replace(corpus, sentences=tuple(own), guideline=guideline), guideline)

    return half(first, True), half(second, False)


def cut(corpus: Corpus, *ends: int) -> list[Corpus]:
    """The first sentences up to each of the ends, as corpora."""
    return [corpus.with_sentences(corpus.sentences[a:b]) for a, b in zip((0, *ends), ends, strict=False)]


def retagged(corpus: Corpus, names: dict[str, str]) -> Corpus:
    """The corpus with other names for tags; those that are missing stay."""

    def step(sentence: Sentence) -> Sentence:
        layer = sentence.layers[corpus.guideline]
        renamed = (c and tuple(dict.fromkeys(names.get(tag, tag) for tag in c)) for c in layer)
        return sentence.with_layer(corpus.guideline, renamed)

    return corpus.map(step)
