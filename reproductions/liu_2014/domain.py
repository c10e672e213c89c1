"""What there is for one target domain: full annotation of another one, and free annotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reproductions.lab.corpora import digest
from tagweave.corpus.corpus import Corpus
from tagweave.harvest.lexicon import Lexicon
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe


@dataclass(frozen=True)
class Domain:
    """What methods learn from, and what they are measured on.

    Attributes:
        name: where it is from.
        train: fully annotated, of the source domain.
        gold: by `dev` and `test` the words of sentences of the target domain; perhaps no `dev`.
        raw: raw sentences of the target domain.
        lexicon: words of the target domain.
        recipe, schedule: of every training.
    """

    name: str
    train: Corpus
    gold: Mapping[str, Corpus]
    raw: tuple[str, ...]
    lexicon: Lexicon
    recipe: Recipe
    schedule: Schedule

    @cached_property
    def digests(self) -> dict[str, str]:
        """What tells the corpora that every method of this domain needs from others."""
        return {name: digest(corpus) for name, corpus in {"train": self.train, **self.gold}.items()}

    @cached_property
    def known(self) -> frozenset[str]:
        """The words of the source corpus: all others are out of vocabulary."""
        return frozenset(form for sentence in self.train for form in sentence.forms)

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and words each fully annotated corpus has."""
        return {name: [len(corpus), corpus.tokens()] for name, corpus in {"train": self.train, **self.gold}.items()}
