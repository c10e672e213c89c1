"""The files of an export: a single file, or all files of a folder or a zip; zips to write.

Nothing is unpacked to disk. The sizes in a zip are not trusted: reading stops at a limit. Links are not followed, so
that an export of somebody else shows no other file.

Limits of unpacked bytes, and of memory for documents, grow with the bytes on disk, as far as real exports need; small
files have a fixed limit. So a small file that would take gigabytes is refused, and a large one is read.
"""

from __future__ import annotations

import stat
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence, Sized
from importlib import import_module
from itertools import pairwise
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO, NamedTuple

from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError, ExchangeError, shortened
from tagweave.exchange.document import Document

LARGEST = 1 << 26
"""Bytes of the largest file of an export: a text of a hundred books, with its annotation."""
_MOST = 100_000  # files of an export
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, KeyError)


def library(module: str, name: str, extra: str) -> ModuleType:
    """Import a module of an extra. Raises ExchangeError if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        expected = f"the extra {extra}: pip install '.[{extra}]' in a checkout of tagweave"
        raise ExchangeError(f"found no {name}, expected {expected}") from None


class ExportFile(NamedTuple):
    """A file of an export, and its place for messages."""

    name: PurePosixPath
    data: bytes
    place: str

    def text(self) -> str:
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            raise CorpusError(f"the byte 0x{self.data[error.start]:02x}", "UTF-8", self.place, line) from None


def members(path: str, *extensions: str) -> Iterator[ExportFile]:
    """Yield the files of an export that have one of these extensions, by name; a single file whatever its extension."""
    top = Path(path)
    if top.is_dir():
        linked = [file for file in sorted(top.rglob("*")) if file.suffix in extensions or file.is_symlink()]
        for file in linked:
            refuse_link(file)
        for file in filter(Path.is_file, linked):
            yield ExportFile(PurePosixPath(file.relative_to(top).as_posix()), _read(file), str(file))
    elif zipfile.is_zipfile(path):
        yield from _unpacked(path, extensions)
    else:
        yield ExportFile(PurePosixPath(top.name), _read(top), path)


def refuse_link(path: Path) -> None:
    """Raise CorpusError if a file that was found beside or below a given one is a link."""
    if path.is_symlink():
        raise CorpusError("a symbolic link", "the file itself: links in exports are not followed", str(path))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise CorpusError(f"more than {LARGEST:,} bytes", "smaller files: cut it", str(path))
    return data


def _unpacked(place: str, extensions: tuple[str, ...]) -> Iterator[ExportFile]:
    unpacked = Allowance(place)
    try:
        packed = zipfile.ZipFile(place)
        infos = sorted(packed.infolist(), key=lambda info: info.filename)
    except _BROKEN as error:
        raise CorpusError(f"a broken zip ({error})", "a whole zip", place) from None
    if len(infos) > _MOST:
        raise CorpusError(f"{len(infos):,} files", f"at most {_MOST:,}", place)
    if repeated := next((a.filename for a, b in pairwise(infos) if a.filename == b.filename), None):
        raise CorpusError(f"two files {shortened(repeated)}", "a file of each name", place)
    for info in infos:
        path = PurePosixPath(info.filename)
        if path.suffix not in extensions or info.is_dir():
            continue
        inner = f"{place}/{info.filename}"
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CorpusError("a symbolic link", "the file itself: links in exports are not followed", inner)
        yield ExportFile(path, _content(packed, info, inner, unpacked), inner)


def _content(packed: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, unpacked: Allowance) -> bytes:
    """Return the bytes of a file of a zip, whose stated size is checked before and after reading."""
    if info.file_size > LARGEST:
        raise CorpusError(f"{info.file_size:,} bytes", f"at most {LARGEST:,}: cut the file", place)
    unpacked.take(info.file_size)
    try:
        with packed.open(info) as file:
            content = file.read(info.file_size + 1)
    except _BROKEN as error:
        raise CorpusError(f"a broken zip ({error})", "a whole zip", place) from None
    if len(content) != info.file_size:
        raise CorpusError(f"a file of {info.file_size:,} bytes that has others", "a whole zip", place)
    return content


def unique(name: str, taken: set[str], otherwise: str) -> str:
    """Return a name for a file: like the document's as far as a file can have it, and none of the names taken."""
    plain = (
        "".join(character if character.isalnum() or character in "-_." else "_" for character in name).strip(".")[:100]
        or otherwise
    )
    free = next(
        candidate
        for candidate in (plain, *(f"{plain}-{at}" for at in range(2, len(taken) + 3)))
        if candidate not in taken
    )
    taken.add(free)
    return free


UNPACKED = 1 << 24
"""Bytes that a file may unpack to, however small it is."""
_UNPACKED_RATIO = 30  # of such bytes to those of a larger file: text unpacks to 3 to 5 times as many
_MEMORY = 500 << 20  # bytes of documents and sentences, however small the file is
_MEMORY_RATIO = 100  # of such bytes to those on disk: 10 to 60 for real exports, packed ones among them
_DOCUMENT, _MARK, _PAIR = 800, 300, 150
_SENTENCE, _TOKEN, _LAYER, _LABEL = 1000, 70, 150, 20


def _most(least: int, ratio: int, paths: Sequence[str]) -> int:
    """Return a limit for files; a pipe, whose size nobody knows, has none."""
    if not all(Path(path).is_file() or Path(path).is_dir() for path in paths):
        return sys.maxsize
    return max(least, ratio * sum(map(size_on_disk, paths)))


def size_on_disk(path: str | Path) -> int:
    """Return the bytes of a file, or of the files of a folder."""
    top = Path(path)
    return sum(file.stat().st_size for file in (top.rglob("*") if top.is_dir() else [top]) if file.is_file())


class Allowance:
    """Counts the bytes that a file unpacks to, and refuses too many."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._left = self._most = _most(UNPACKED, _UNPACKED_RATIO, [path])

    def take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            problem = f"more than {self._most:,} bytes in {size_on_disk(self._path):,} on disk"
            expected = f"at most {_UNPACKED_RATIO} times as many: import it unpacked, or a part"
            raise CorpusError(problem, expected, self._path)


class Memory:
    """Counts what the documents and sentences of files take in memory, and refuses too much, before it is there."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._most, self._taken = _most(_MEMORY, _MEMORY_RATIO, paths), 0

    def documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            pairs = len(document.tokens or ())
            marks = sum(len(some or ()) for some in document.marks.values())
            self._taken += _DOCUMENT + sys.getsizeof(document.text) + _MARK * marks + _PAIR * pairs
            self._check(self._taken + _SENTENCE * document.text.count("\n"), document.location)  # before there are any
            yield document

    def layers(self, documents: Sequence[Document], names: Sized) -> None:
        if len(names) * len(documents) * _LAYER > self._most:
            problem = f"{len(names):,} annotators of {len(documents):,} documents"
            raise CorpusError(problem, "fewer: import the files of some annotators", *documents[0].location)

    def sentences(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            layers = len(sentence.layers) + len(sentence.columns) + len(sentence.heads)
            self._taken += _SENTENCE + _TOKEN * len(sentence) + layers * (_LAYER + _LABEL * len(sentence))
            self._check(self._taken, sentence.location)
            yield sentence

    def _check(self, size: int, location: Location) -> None:
        if size > self._most:
            problem = f"documents and sentences that take more than {self._most >> 20:,} MB of memory"
            raise CorpusError(problem, f"at most {_MEMORY_RATIO} times the size of the files: import a part", *location)


def write_zip(stream: IO[bytes], files: Iterable[tuple[str, str]]) -> None:
    """Write a zip of texts by name, without times, so that the same texts give the same bytes."""
    with zipfile.ZipFile(stream, "w") as packed:
        for name, text in files:
            packed.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
