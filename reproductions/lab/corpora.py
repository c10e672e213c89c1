"""Corpora of studies: the folder of all of them, corpora in three parts, and draws of sentences."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import tagweave as tw
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence

ROOT = Path(__file__).parents[2]
"""The checkout."""


def corpora_folder() -> Path:
    """Return the folder of the real corpora, or end the program where it is not there: README.md tells of both."""
    folder = Path(os.environ.get("TAGWEAVE_CORPORA", ROOT.parent / "shared" / "corpora"))
    if not folder.is_dir():
        sys.exit(f"no corpora in {folder}: set TAGWEAVE_CORPORA to the folder that holds them")
    return folder


@dataclass(frozen=True, eq=False)
class Parts:
    """A corpus in three parts."""

    train: Corpus
    dev: Corpus
    test: Corpus

    def __iter__(self) -> Iterator[Corpus]:
        return iter((self.train, self.dev, self.test))

    def sizes(self) -> dict[str, list[int]]:
        """Return how many sentences and tokens each part has."""
        return {
            name: [len(corpus), corpus.tokens()] for name, corpus in zip(("train", "dev", "test"), self, strict=True)
        }

    def map(self, change: Callable[[Corpus], Corpus]) -> Parts:
        """Return the parts after a change."""
        return Parts(*map(change, self))

    def first(self, train: int, others: int) -> Parts:
        """Return the first sentences of each part."""
        return Parts(
            *(
                part.with_sentences(part.sentences[:count])
                for part, count in zip(self, (train, others, others), strict=True)
            )
        )


def read_parts(folder: str, guideline: str, layer: str = "") -> Parts:
    """Read train, dev and test of a folder among the corpora, their layer under the name of a guideline.

    Raises:
        CorpusError: a file that does not follow its format.
        OSError: a file that cannot be read.
    """
    files = (next(iter(sorted((corpora_folder() / folder).glob(f"{part}.*")))) for part in ("train", "dev", "test"))
    return Parts(*(tw.load(f"{guideline}={file}{layer and '#'}{layer}") for file in files))


def of_sample(name: str, guideline: str, *ends: int) -> list[Corpus]:
    """Return sentences of the bundled sample up to each of the ends, as corpora of a guideline."""
    corpus = tw.load(f"{guideline}={sample.path(name)}")
    return [corpus.with_sentences(corpus.sentences[a:b]) for a, b in zip((0, *ends), ends, strict=False)]


def drawn(corpus: Corpus, count: int, seed: int) -> Corpus:
    """Return so many random sentences in their order; all where there are no more."""
    chosen = np.random.default_rng(seed).permutation(len(corpus))[:count]
    return corpus.with_sentences(corpus.sentences[at] for at in sorted(chosen.tolist()))


def without_relations(corpus: Corpus) -> Corpus:
    """Return a treebank with heads alone."""

    def bare(sentence: Sentence) -> Sentence:
        arcs = sentence.heads[corpus.guideline]
        heads = tuple(candidates and tuple(Arc(arc.head, None) for arc in candidates) for candidates in arcs)
        return replace(sentence, heads={corpus.guideline: heads})

    return corpus.map(bare)
