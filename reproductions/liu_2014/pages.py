"""The sentences of pages, with what their markup tells of words, and how many spans it sets off in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.harvest.markup import MarkupHarvest
from tagweave.harvest.page import find, read

NOTHING = Corpus((), SEGMENTATION, "character")


@dataclass(frozen=True)
class Pages:
    """What was found in pages.

    Attributes:
        corpus: sentences of characters of which the markup tells something.
        spans: by its text, how many spans a sentence has.
        edges: the same sentences without what spans of two characters tell of their inside.
    """

    corpus: Corpus = NOTHING
    spans: dict[str, int] | None = None
    edges: Corpus = NOTHING

    def spans_of(self, corpus: Corpus) -> int:
        """How many spans some of the sentences have."""
        known = self.spans or {}
        return sum(known["".join(sentence.forms)] for sentence in corpus)


def harvested(folder: Path, kept_out: Collection[str] = ()) -> Pages:
    """The sentences of the pages of a folder, but for some texts.

    Raises:
        CorpusError: no pages, or one that cannot be read.
        OSError: a file cannot be read.
    """
    corpus, spans = _harvested(folder, kept_out, MarkupHarvest())
    edges, _ = _harvested(folder, kept_out, MarkupHarvest(words_of_two=False))
    return Pages(corpus, spans, edges)


def _harvested(folder: Path, kept_out: Collection[str], harvest: MarkupHarvest) -> tuple[Corpus, dict[str, int]]:
    sentences, spans = [], dict[str, int]()
    for path, name in find(str(folder)):
        before = harvest.spans
        for sentence in harvest.of(read(path, name), path):
            text = "".join(sentence.forms)
            if text not in kept_out and text not in spans:
                sentences.append(sentence)
                spans[text] = harvest.spans - before
            before = harvest.spans
    return Corpus(tuple(sentences), SEGMENTATION, "character", None, str(folder)), spans


def raw_text(folder: Path, kept_out: Collection[str] = ()) -> tuple[str, ...]:
    """The sentences of the pages of a folder, but for some texts, each once. Raises as `harvested`."""
    return tuple(text for text in dict.fromkeys(_texts(find(str(folder)))) if text not in kept_out)


def _texts(files: Iterable[tuple[str, str]]) -> Iterable[str]:
    for path, name in files:
        for sentence in MarkupHarvest(everything=True).of(read(path, name), path):
            yield "".join(sentence.forms)
