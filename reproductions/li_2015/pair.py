"""The corpora of one training run: those of the target guideline, and those of the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.lab.corpora import Parts, digest
from tagweave.corpus.corpus import Corpus
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
