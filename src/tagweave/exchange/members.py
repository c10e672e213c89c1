"""The files of an export: one file, those of a folder, or those of a zip, in which others may be packed.

Nothing is unpacked to disk. What a zip says of sizes is not believed: reading stops where a limit is. Links are not
followed, so that an export of somebody else shows no other file.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tagweave.corpus.errors import CorpusError, shortened
from tagweave.corpus.sentence import Location
from tagweave.exchange.limits import Unpacked

LARGEST = 1 << 26
"""Bytes of the largest file of an export: a text of a hundred books, with its annotation."""
_DEPTH = 3  # zips in zips: an export of a project, in it those of its annotators
_MOST = 100_000  # files of an export
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, KeyError)


class Member(NamedTuple):
    """A file of an export: its name there, with slashes, its bytes, and its place for messages."""

    name: PurePosixPath
    data: bytes
    place: str

    def text(self) -> str:
        """Its text, with its line breaks. Raises CorpusError if it is not UTF-8."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            raise CorpusError(f"the byte 0x{self.data[error.start]:02x}", "UTF-8", self.place, line) from None

    def location(self) -> Location:
        """The place of the file."""
        return Location(self.place)


def members(path: str, *extensions: str) -> Iterator[Member]:
    """The files of an export that have one of these extensions, by name; a single file whatever its extension.

    Raises:
        CorpusError: a broken zip; a file larger than `LARGEST`; too many files, or zips in zips in zips.
        OSError: a file cannot be read.
    """
    top = Path(path)
    if top.is_dir():
        for each in files_of(top, extensions):
            yield Member(PurePosixPath(each.relative_to(top).as_posix()), _read(each), str(each))
    elif zipfile.is_zipfile(path):
        yield from _unpacked(top, path, PurePosixPath(), extensions, _DEPTH, Unpacked(path))
    else:
        yield Member(PurePosixPath(top.name), _read(top), path)


def files_of(folder: Path, extensions: tuple[str, ...]) -> list[Path]:
    """Return the files of a folder and the folders in it, by name. Raises CorpusError for a link."""
    found = []
    for each in sorted(folder.rglob("*")):
        if each.suffix in extensions or each.is_symlink():
            refuse_link(each)
            found += [each] if each.is_file() else []
    return found


def refuse_link(path: Path) -> None:
    """Raise CorpusError if a file that was found beside or below a given one is a link."""
    if path.is_symlink():
        raise CorpusError("a symbolic link", "the file itself: links in exports are not followed", str(path))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return _limited(file.read(LARGEST + 1), str(path))


def _limited(data: bytes, place: str) -> bytes:
    if len(data) > LARGEST:
        raise CorpusError(f"more than {LARGEST:,} bytes", "smaller files: cut it", place)
    return data


def _unpacked(
    data: Path | io.BytesIO,
    place: str,
    folder: PurePosixPath,
    extensions: tuple[str, ...],
    depth: int,
    unpacked: Unpacked,
) -> Iterator[Member]:
    if not depth:
        raise CorpusError("zips in zips in zips", "an export of a project at most", place)
    try:
        packed = zipfile.ZipFile(data)
        infos = sorted(packed.infolist(), key=lambda each: each.filename)
    except _BROKEN as error:
        raise CorpusError(f"a broken zip ({error})", "a whole zip", place) from None
    if len(infos) > _MOST:
        raise CorpusError(f"{len(infos):,} files", f"at most {_MOST:,}", place)
    if repeated := next((a.filename for a, b in pairwise(infos) if a.filename == b.filename), None):
        raise CorpusError(f"two files {shortened(repeated)}", "a file of each name", place)
    for info in infos:
        path = folder / info.filename
        if path.suffix not in (*extensions, ".zip") or info.is_dir():
            continue
        inner = f"{place}/{info.filename}"
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CorpusError("a symbolic link", "the file itself: links in exports are not followed", inner)
        content = _content(packed, info, inner, unpacked)
        if path.suffix == ".zip":
            yield from _unpacked(io.BytesIO(content), inner, path.with_suffix(""), extensions, depth - 1, unpacked)
        else:
            yield Member(path, content, inner)


def _content(packed: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, unpacked: Unpacked) -> bytes:
    """Return the bytes of a file of a zip; what it says of their number is checked before, and what they are after."""
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
    """A name for a file: that of a document as far as it can be one, and different from those that are taken."""
    plain = "".join(each if each.isalnum() or each in "-_." else "_" for each in name).strip(".")[:100] or otherwise
    found = next(each for each in (plain, *(f"{plain}-{at}" for at in range(2, len(taken) + 3))) if each not in taken)
    taken.add(found)
    return found
