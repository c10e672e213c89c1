"""Partially annotated sentences of every kind, made for a domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from reproductions.lab.corpora import drawn, share_of
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import Source
from reproductions.liu_2014.pages import NOTHING
from tagweave.corpus.corpus import Corpus
from tagweave.harvest.annotation import annotated
from tagweave.harvest.matching import LexiconMatcher
from tagweave.harvest.select import sampled, selected


class Partial(NamedTuple):
    """Sentences, and how many words or spans are marked in them."""

    corpus: Corpus
    marked: int


def partial(domain: Domain, source: Source, seed: int) -> Partial:
    """What a source gives in a domain, under the guideline of the source corpus.

    Raises:
        ValueError: a kind that is none of `KINDS`.
    """
    if source.kind not in KINDS:
        raise ValueError(f"unknown kind {source.kind!r}, expected one of {', '.join(KINDS)}")
    found = KINDS[source.kind](domain, source, seed)
    return found._replace(corpus=replace(found.corpus, guideline=domain.train.guideline))


def _lexicon(domain: Domain, source: Source, seed: int) -> Partial:
    """Words of the lexicon in raw sentences (2.1); the share is one of the raw sentences."""
    lines = drawn(domain.raw, source.share, seed)
    matcher = LexiconMatcher((domain.lexicon,), phrases=source.phrases or None)
    found = [each for each in annotated(lines, matcher) if each.words]
    return Partial(NOTHING.with_sentences(each.sentence for each in found), sum(each.words for each in found))


def _all(domain: Domain, source: Source, seed: int) -> Partial:
    """Sentences of pages (2.2)."""
    return _of_pages(domain, share_of(domain.natural.corpus, source.share, seed))


def _selected(domain: Domain, source: Source, seed: int) -> Partial:
    """Those that mark a span of the target domain's raw text (2.2)."""
    return _of_pages(domain, share_of(selected(domain.natural.corpus, domain.raw), source.share, seed))


def _random(domain: Domain, source: Source, seed: int) -> Partial:
    """As many, whatever they mark (5.2.1)."""
    size = len(selected(domain.natural.corpus, domain.raw))
    return _of_pages(domain, sampled(domain.natural.corpus, round(source.share * size), seed))


def _of_pages(domain: Domain, corpus: Corpus) -> Partial:
    return Partial(corpus, domain.natural.spans_of(corpus))


KINDS: dict[str, Callable[[Domain, Source, int], Partial]] = {
    "lexicon": _lexicon,
    "all": _all,
    "selected": _selected,
    "random": _random,
}
"""How partial annotation is made."""
