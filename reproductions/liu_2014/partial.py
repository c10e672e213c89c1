"""Partially annotated sentences of every kind, made for a domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from reproductions.lab.corpora import drawn, new_words, share_of
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import Source
from reproductions.liu_2014.pages import NOTHING
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.sentence import Sentence
from tagweave.harvest.lexicon import Lexicon, uncontradicted
from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher
from tagweave.harvest.selection import sampled, selected

_ENDS = "。！？!?；;…：:."


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
    corpus = (
        found.corpus if source.confidence == 1 else found.corpus.map(lambda each: _believed(each, source.confidence))
    )
    return found._replace(corpus=replace(corpus, guideline=domain.train.guideline))


def _believed(sentence: Sentence, confidence: float) -> Sentence:
    return replace(sentence, confidence=(confidence,) * len(sentence))


def _lexicon(domain: Domain, source: Source, seed: int) -> Partial:
    """Words of the lexicon in raw sentences (2.1); the share is one of the raw sentences."""
    return _found(domain, domain.lexicon, source, seed)


def _new(domain: Domain, source: Source, seed: int) -> Partial:
    """Words of the raw sentences that the source corpus lacks, in these sentences."""
    words = () if domain.words is None else new_words(domain.train, domain.words)
    return _found(domain, Lexicon(words, (None,) * len(words)), source, seed)


def _unambiguous(domain: Domain, source: Source, seed: int) -> Partial:
    """Words of the lexicon that the training data do not contradict, in raw sentences."""
    return _found(domain, uncontradicted(domain.lexicon, domain.train), source, seed)


def _found(domain: Domain, lexicon: Lexicon, source: Source, seed: int) -> Partial:
    lines = drawn(domain.raw, source.share, seed)
    harvest = LexiconHarvest(LexiconMatcher((lexicon,), phrases=source.phrases or None))
    return Partial(NOTHING.with_sentences(tuple(harvest.of(lines))), harvest.words)


def _raw(domain: Domain, source: Source, seed: int) -> Partial:
    """Raw sentences of which nothing is known."""
    lines = drawn(domain.raw, source.share, seed)
    sentences = (Sentence(tuple(line), {SEGMENTATION: (None,) * len(line)}) for line in lines)
    return Partial(NOTHING.with_sentences(sentences), 0)


def _all(domain: Domain, source: Source, seed: int) -> Partial:
    """Sentences of pages (2.2)."""
    return _of_pages(domain, share_of(domain.natural.corpus, source.share, seed))


def _edges(domain: Domain, _source: Source, _seed: int) -> Partial:
    """All of them, a span of two Chinese characters like any other: its inside is left open."""
    corpus = domain.natural.edges
    return _of_pages(domain, corpus)


def _unended(domain: Domain, _source: Source, _seed: int) -> Partial:
    """Those without a full stop or the like: titles, and items of lists."""
    corpus = domain.natural.corpus
    return _of_pages(domain, corpus.with_sentences(each for each in corpus if each.forms[-1] not in _ENDS))


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
    "unambiguous": _unambiguous,
    "new": _new,
    "raw": _raw,
    "all": _all,
    "edges": _edges,
    "unended": _unended,
    "selected": _selected,
    "random": _random,
}
"""How partial annotation is made."""
