"""Two guidelines and their corpora, and how models of them are trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.jiang_2015.structure import Structure
from reproductions.lab.corpora import Parts, digest, share_of
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Schedule


@dataclass(frozen=True)
class Pair:
    """What models learn from, and what they are measured on.

    Attributes:
        name: where it is from.
        target, source: fully annotated, of two guidelines.
        structure, schedule: of every training; development data tell which iteration is the best.
        ways_back: the values of lambda of which the best on development data is looked for.
        rounds: of so many rounds, the best is.
    """

    name: str
    target: Parts
    source: Parts
    structure: Structure
    schedule: Schedule
    ways_back: tuple[float, ...]
    rounds: int

    @cached_property
    def gold(self) -> Mapping[str, Corpus]:
        """What is measured on, by its name."""
        return {"dev": self.target.dev, "test": self.target.test, "source test": self.source.test}

    @cached_property
    def digests(self) -> dict[str, str]:
        """What tells the corpora from others."""
        parts = {"target": self.target, "source": self.source}
        return {
            f"{side} {name}": digest(corpus)
            for side, corpora in parts.items()
            for name, corpus in zip(("train", "dev", "test"), corpora, strict=True)
        }

    def sizes(self) -> dict[str, dict[str, list[int]]]:
        """How many sentences and words each corpus has."""
        return {"target": self.target.sizes(), "source": self.source.sizes()}

    def with_share(self, share: float, seed: int) -> Pair:
        """With a random share of the target's training data."""
        train = share_of(self.target.train, share, seed)
        return self if share == 1 else replace(self, target=replace(self.target, train=train))
