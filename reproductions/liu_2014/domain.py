"""What there is for one target domain: full annotation of another one, and free annotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reproductions.lab.corpora import digest
from reproductions.liu_2014.pages import Pages
from tagweave.corpus.corpus import Corpus
from tagweave.harvest.lexicon import Lexicon
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe

FREQUENT = 8000
"""Words of the source corpus that lexicon features look for (5.1.3, for the People's Daily)."""


@dataclass(frozen=True)
class Domain:
    """What methods learn from, and what they are measured on.

    Attributes:
        name: where it is from.
        train: fully annotated, of the source domain.
        gold: by `dev` and `test` the words of sentences of the target domain; perhaps no `dev`.
        raw: raw sentences of the target domain.
        lexicon: words of the target domain.
        natural: sentences of pages, with what their markup tells.
        recipe, schedule: of every training.
        words: the raw sentences as words, where they are known: for measures and for lexicons that nobody has.
    """

    name: str
    train: Corpus
    gold: Mapping[str, Corpus]
    raw: tuple[str, ...]
    lexicon: Lexicon
    natural: Pages
    recipe: Recipe
    schedule: Schedule
    words: Corpus | None = None

    @cached_property
    def digests(self) -> dict[str, str]:
        """What tells the corpora that every method of this domain needs from others."""
        return {name: digest(corpus) for name, corpus in {"train": self.train, **self.gold}.items()}

    @cached_property
    def known(self) -> frozenset[str]:
        """The words of the source corpus: all others are out of vocabulary."""
        return frozenset(form for sentence in self.train for form in sentence.forms)

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The words that lexicon features look for: the most frequent ones of the source corpus, and the lexicon."""
        counts = Counter(form for sentence in self.train for form in sentence.forms)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:FREQUENT]
        return (*frequent, *self.lexicon.words)

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and words each fully annotated corpus has."""
        return {name: [len(corpus), corpus.tokens()] for name, corpus in {"train": self.train, **self.gold}.items()}
