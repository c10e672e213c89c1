"""Corpora of two guidelines: the target, whose words are wanted, and the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reproductions.lab.corpora import digest
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe


@dataclass(frozen=True)
class Pair:
    """What methods learn from, and what they are measured on. All are corpora of words with tags.

    Attributes:
        name: in file names.
        target, source: training data.
        gold: by `dev` and `test`, sentences of the target guideline; perhaps no `dev`.
        recipe, schedule: of every training.
        folds: of the jackknife.
    """

    name: str
    target: Corpus
    source: Corpus
    gold: Mapping[str, Corpus]
    recipe: Recipe
    schedule: Schedule
    folds: int

    @cached_property
    def digests(self) -> dict[str, str]:
        """What tells the corpora from others."""
        return {name: digest(corpus) for name, corpus in self._corpora().items()}

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and words each corpus has."""
        return {name: [len(corpus), corpus.tokens()] for name, corpus in self._corpora().items()}

    def _corpora(self) -> dict[str, Corpus]:
        return {"target": self.target, "source": self.source, **self.gold}
