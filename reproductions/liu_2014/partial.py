"""Partially annotated sentences, made for a domain."""

from __future__ import annotations

from typing import NamedTuple

from reproductions.lab.corpora import drawn
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import Source
from tagweave.corpus.corpus import Corpus
from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher


class Partial(NamedTuple):
    """Sentences, and how many words are marked in them."""

    corpus: Corpus
    marked: int


def partial(domain: Domain, source: Source, seed: int) -> Partial:
    """Words of the lexicon in raw sentences, under the guideline of the source corpus."""
    harvest = LexiconHarvest(LexiconMatcher((domain.lexicon,), phrases=source.phrases or None))
    sentences = tuple(harvest.of(drawn(domain.raw, source.share, seed)))
    return Partial(Corpus(sentences, domain.train.guideline, "character"), harvest.words)
