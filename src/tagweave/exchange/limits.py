"""What an import may take: the bytes that files unpack to, and the memory of what is made of them.

A small file that would take gigabytes is refused; a large one that takes what its size promises is not. So limits grow
with the bytes on disk, in proportion to what real exports need at most, and small files have a limit of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Location, Sentence
from tagweave.exchange.document import Document

UNPACKED = 1 << 24
"""Bytes that files may unpack to, however small they are."""
_RATIO = 30  # of unpacked bytes to those on disk: text takes 3 to 5, UIMA's XML up to 20
_MEMORY = 500 << 20  # bytes of documents and sentences, however small the file is
_MEMORY_RATIO = 100  # of such bytes to those on disk: 10 to 60 for real exports, packed ones among them
_DOCUMENT, _MARK, _PAIR = 800, 300, 150
_SENTENCE, _TOKEN, _LAYER, _LABEL = 1000, 70, 150, 20


def _most(least: int, ratio: int, paths: Sequence[str]) -> int:
    """Return a limit for files; a pipe, whose size nobody knows, has none."""
    if not all(Path(each).is_file() or Path(each).is_dir() for each in paths):
        return sys.maxsize
    return max(least, ratio * sum(map(size_on_disk, paths)))


def size_on_disk(path: str | Path) -> int:
    """Return the bytes of a file, or of the files of a folder."""
    top = Path(path)
    return sum(each.stat().st_size for each in (top.rglob("*") if top.is_dir() else [top]) if each.is_file())


class Unpacked:
    """Counts the bytes that a file unpacks to, and refuses too many.

    Args:
        path: the file.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        self._left = self._most = _most(UNPACKED, _RATIO, [self._path])

    def take(self, size: int) -> None:
        """Count some bytes. Raises CorpusError if they are too many."""
        self._left -= size
        if self._left < 0:
            found = f"more than {self._most:,} bytes in {size_on_disk(self._path):,} on disk"
            raise CorpusError(found, f"at most {_RATIO} times as many: unpack it, and import the files", self._path)


class Memory:
    """Counts what documents and sentences take in memory, and refuses too much, before it is there.

    Args:
        paths: the files that they are from.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._most, self._taken = _most(_MEMORY, _MEMORY_RATIO, paths), 0

    def documents(self, found: Iterable[Document]) -> Iterator[Document]:
        """Return documents while there is space for them. Raises CorpusError if there is not."""
        for each in found:
            pairs = sum(len(some or ()) for some in (each.tokens, each.sentences))
            marks = sum(len(some or ()) for some in each.marks.values())
            self._take(_DOCUMENT + sys.getsizeof(each.text) + _MARK * marks + _PAIR * pairs, each.location)
            lines = each.text.count("\n") if each.sentences is None else len(each.sentences)
            self._check(self._taken + _SENTENCE * lines, each.location)  # before there are any
            yield each

    def layers(self, documents: Sequence[Document], names: Sized) -> None:
        """Raise CorpusError if there is no space for a layer of every annotator in every document."""
        if len(names) * len(documents) * _LAYER > self._most:
            found = f"{len(names):,} annotators of {len(documents):,} documents"
            raise CorpusError(found, "fewer: import the files of some annotators", *documents[0].location)

    def sentences(self, found: Iterable[Sentence]) -> Iterator[Sentence]:
        """Return sentences while there is space for them. Raises CorpusError if there is not."""
        for each in found:
            label = _LABEL * len(each)
            layers = sum(_LAYER + label for some in _mappings(each) for _ in some)
            self._take(_SENTENCE + _TOKEN * len(each) + layers, each.location)
            yield each

    def _take(self, size: int, location: Location) -> None:
        self._taken += size
        self._check(self._taken, location)

    def _check(self, size: int, location: Location) -> None:
        if size > self._most:
            found = f"documents and sentences that take more than {self._most >> 20:,} MB of memory"
            raise CorpusError(found, f"at most {_MEMORY_RATIO} times the size of the files: import a part", *location)


def _mappings(sentence: Sentence) -> tuple[Mapping[str, object], ...]:
    return sentence.layers, sentence.columns, sentence.heads
