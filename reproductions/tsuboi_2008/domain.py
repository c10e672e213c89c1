"""The corpora of an experiment: a source domain, and a target domain of which words may be asked for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reproductions.lab.corpora import digest
from tagweave.annotate.selection import occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Schedule


@dataclass(frozen=True, eq=False)
class Domain:
    """One fold: what is annotated, and what it is measured on (tsuboi-2008, Table 2).

    Attributes:
        name: where it is from.
        source: (A), fully segmented.
        dev: (B), of the source domain: tells which iteration is kept.
        asked: (C1), fully segmented, which nobody but the annotator sees.
        test: (C2).
        words: the list, whose occurrences in C1 are asked for.
        schedule: the budget of every training.
    """

    name: str
    source: Corpus
    dev: Corpus
    asked: Corpus
    test: Corpus
    words: tuple[str, ...]
    schedule: Schedule

    @property
    def corpora(self) -> dict[str, Corpus]:
        """By their names in the paper."""
        return {"A": self.source, "B": self.dev, "C1": self.asked, "C2": self.test}

    @cached_property
    def digests(self) -> list[str]:
        """What tells these corpora and this list from others."""
        words = hashlib.sha256("\n".join(self.words).encode()).hexdigest()[:12]
        return [words, *map(digest, self.corpora.values())]

    @property
    def terms(self) -> int:
        """How many words of the list occur in C1, as words or not."""
        return len(np.unique(occurrences(self.asked.sentences, self.words).word))

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and words each corpus has."""
        return {name: [len(corpus), corpus.tokens()] for name, corpus in self.corpora.items()}


def split(corpus: Corpus, share: float, seed: int = 0) -> tuple[Corpus, Corpus]:
    """A random share of the sentences, and the others, each in their order."""
    chosen = np.random.default_rng(seed).permutation(len(corpus)) < round(share * len(corpus))
    first, second = (
        corpus.with_sentences(sentence for sentence, choose in zip(corpus, chosen, strict=True) if choose == wanted)
        for wanted in (True, False)
    )
    return first, second
