"""Sentences of web pages with their words, not from markup: a test set that is kept out of harvesting.

The pages are under a licence of their own, so the table beside this file has no text. It says where a sentence stands,
how to know it, and how long its words are; the pages give the rest. Its first lines are the guideline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import read_lines
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.harvest.markup import MarkupHarvest
from tagweave.harvest.page import find, read

TABLE = Path(__file__).with_suffix(".tsv")
"""The table of the sentences, a line each: PAGE, DIGEST and LENGTHS, with tabs between them."""

GUIDELINE = "pd"

_LINE = re.compile(r"([^\t]+)\t([0-9a-f]{16})\t([1-9]\d*(?: [1-9]\d*)*)", re.ASCII)


class Entry(NamedTuple):
    """A line of the table.

    Attributes:
        page: the file, below the folder of all pages.
        digest: of the sentence's text, see `digest`.
        lengths: of its words, in characters.
    """

    page: str
    digest: str
    lengths: tuple[int, ...]


def digest(text: str) -> str:
    """What the table knows a text by: the first 8 bytes of BLAKE2b of its UTF-8, hexadecimal."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def entries(table: Path = TABLE) -> Iterator[Entry]:
    """The lines of a table, but for comments and blank lines.

    Raises:
        CorpusError: a line that is none, with its number.
        OSError: the table cannot be read.
    """
    for number, line in enumerate(read_lines(str(table)), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if (match := _LINE.fullmatch(line)) is None:
            raise CorpusError(repr(line), "PAGE, DIGEST and LENGTHS with tabs between them", str(table), number)
        page, known_by, lengths = match.groups()
        yield Entry(page, known_by, tuple(map(int, lengths.split())))


def held_out(folder: Path, table: Path = TABLE) -> Corpus:
    """The sentences of a table as words, in its order; the guideline is `pd`.

    Args:
        folder: the pages.
        table: which sentences, and their words.

    Raises:
        CorpusError: a page without a sentence that the table says it has, or words that are together longer or shorter
            than their sentence; both name page and digest. A damaged table or page.
        OSError: a page or the table cannot be read.
    """
    sentences: list[Sentence] = []
    for page, group in groupby(entries(table), lambda entry: entry.page):
        path = str(folder / page)
        known = {digest(text): text for text in _texts_of(path)}
        sentences += (_sentence(entry, known, path) for entry in group)
    return Corpus(tuple(sentences), GUIDELINE, path=str(folder))


def texts(corpus: Corpus) -> frozenset[str]:
    """The text of each sentence of words, or of characters: what is compared to keep sentences out of a harvest."""
    return frozenset("".join(sentence.forms) for sentence in corpus)


def _texts_of(path: str) -> Iterator[str]:
    for file, name in find(path):
        for sentence in MarkupHarvest(everything=True).of(read(file, name)):
            yield "".join(sentence.forms)


def _sentence(entry: Entry, known: dict[str, str], path: str) -> Sentence:
    if (text := known.get(entry.digest)) is None:
        raise CorpusError(f"no sentence with the digest {entry.digest}", "the pages that the table was made of", path)
    if sum(entry.lengths) != len(text):
        found = f"words of {sum(entry.lengths)} characters for the sentence with the digest {entry.digest}"
        raise CorpusError(found, str(len(text)), path)
    ends = accumulate(entry.lengths, initial=0)
    return Sentence(tuple(text[start:stop] for start, stop in pairwise(ends)), location=Location(path))
