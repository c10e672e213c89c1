"""Treebanks with more and fewer sentences whose arcs cross."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reproductions.free_trees.extraposition import extraposed
from reproductions.lab.corpora import Parts, cut, there
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load

SHARE = 0.6
"""Of the phrases that can be moved, in the simulated treebank."""
_FRENCH = 1100
_MOVED = 4000
_QUICK = 40


@dataclass(frozen=True)
class Treebank:
    """A treebank in three parts.

    Attributes:
        name: in the page and in the names of files.
        told: what it is.
        parts: its sentences.
    """

    name: str
    told: str
    parts: Parts


def treebanks(folder: Path, quick: bool) -> Iterator[Treebank]:
    """All of them, read one by one; `quick`: their first sentences.

    Raises:
        CorpusError: a corpus is not there.
    """
    yield Treebank("zh/udc", "UD Chinese", _first(_parts(folder / "zh" / "udc"), quick))
    french = there(folder / "fr" / "gsd-sud")
    dev = load(f"{french / 'dev.conllu'}#head")
    train, rest = cut(dev, _FRENCH, len(dev))
    parts = Parts(train, rest, load(f"{french / 'test.conllu'}#head"))
    yield Treebank("fr/gsd-sud", f"SUD French, of whose dev.conllu {_FRENCH:,} sentences train", _first(parts, quick))
    english = _parts(folder / "en" / "ewt")
    yield Treebank("en/ewt", "UD English", _first(english, quick))
    some = english.train.with_sentences(english.train.sentences[:_MOVED])
    moved = Parts(*(extraposed(part, SHARE) for part in (some, english.dev, english.test)))
    told = f"**simulated**: {_MOVED:,} sentences of en/ewt and its dev and test, with phrases moved out of their phrase"
    yield Treebank("en/ewt moved", told, _first(moved, quick))


def _parts(folder: Path) -> Parts:
    there(folder)
    return Parts(*(load(f"{folder / part}.conllu#head") for part in ("train", "dev", "test")))


def _first(parts: Parts, quick: bool) -> Parts:
    def some(corpus: Corpus) -> Corpus:
        return corpus.with_sentences(corpus.sentences[:_QUICK])

    return Parts(*map(some, parts)) if quick else parts
