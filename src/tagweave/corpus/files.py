"""Files: text read strictly as UTF-8, by lines or in blocks of lines, and files that appear completely or not at all.

A file or folder is made in a folder `NAME.xxxxxxxx.part` beside its place. The process that writes holds a lock on that
folder, which the system releases however the process ends: who writes NAME next removes what a killed process has left.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import secrets
import select
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from itertools import islice
from pathlib import Path, PureWindowsPath
from typing import IO, Any, TypeVar, cast

from tagweave.errors import CorpusError

try:
    import fcntl
except ImportError:  # Windows: what a killed process has left stays
    fcntl = None  # type: ignore[assignment]

Item = TypeVar("Item")
STANDARD_STREAM = "-"
"""The path that means standard input or standard output."""
LONGEST = 1 << 24
"""Bytes of the longest line, including its line break: more than any book, and little enough for memory. A megabyte of
gzip data can be a line of a gigabyte."""
_BYTES = 1 << 20
_CHARACTERS = 1 << 20
_LEVEL = 4  # of compression: the usual 9 takes four times as long for 4 % less, most of the time of segmenting
_NAME = 60  # last characters of the name, of up to four bytes: with its ending it must be a name, too
_held: io.BytesIO | None = None  # the block of standard input that is being read
_GZIP_MAGIC = b"\x1f\x8b"
_UNPACKED, _UNPACKED_RATIO = 1 << 26, 100  # bytes of gzip data unpacked: this many times as many, text has 3 to 15
_KINDS = {
    b"PK\x03\x04": "a zip file, such as those of Word and Excel",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"SQLite": "a database",
    b"lCRF": "a model",
}
_ASCII = 128  # its bytes are below
_OF_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT}
_FORBIDDEN = re.compile("[\0\r]")


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a file (`-`: standard input) without their line breaks (`\\n`, `\\r\\n`), one at a time.

    A file that begins with the gzip magic number is decompressed, whatever its name. A byte order mark is skipped.
    Raises CorpusError for a line that is not UTF-8, contains NUL or a carriage return before its end, or is longer than
    `LONGEST`, and for broken gzip data.
    """
    if path != STANDARD_STREAM:
        for block in read_blocks(path):
            yield from block.removesuffix("\n").split("\n")
        return
    number = 0
    with opened(path, lambda: number + 1) as file:
        for number, line in enumerate(_arriving(file), 1):
            if len(line) > LONGEST:
                raise _too_long(path, number)
            yield decode_line(line, path, number)


def read_blocks(path: str) -> Iterator[str]:
    """Yield the lines of `read_lines` in blocks of text that end in `\\n`, with no object per line.

    A block is about a megabyte, what a pipe has ready, or one longer line.
    """
    number = 1
    with opened(path, lambda: number) as file:
        for block in _whole_lines(file):
            for at, line in enumerate(io.BytesIO(block) if len(block) > LONGEST else (), number):
                if len(line) > LONGEST:
                    raise _too_long(path, at)
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError:
                text = "\r"  # the line that is wrong is found below
            if "\r" in text or "\0" in text or (number == 1 and text.startswith("\ufeff")):
                lines = enumerate(io.BytesIO(block), number)
                text = "".join(decode_line(line, path, at) + "\n" for at, line in lines)
            text = text if text.endswith("\n") else text + "\n"
            number += text.count("\n")
            yield text


def line_blocks(lines: Iterable[str], characters: int | None = None) -> Iterator[list[str]]:
    """Yield lines in blocks of so many characters, about a million by default, so that memory stays constant."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line) + 1
        if size >= (characters or _CHARACTERS):
            yield block
            block, size = [], 0
    if block:
        yield block


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items `size` at a time, at least one; fewer in the last block, which is never empty."""
    if size < 1:
        raise ValueError(f"found blocks of {size}, expected at least 1")
    iterator = iter(items)
    while block := list(islice(iterator, size)):
        yield block


def first_lines(path: str, count: int) -> list[str]:
    """Return the first lines of a file; of standard input, whole lines that have arrived, which remain to be read; none
    of a pipe with a name, which can be read only once, nor of compressed standard input."""
    if path != STANDARD_STREAM:
        return list(islice(read_lines(path), count)) if Path(path).is_file() else []
    peek = getattr(sys.stdin.buffer, "peek", None)
    block = peek(1) if peek else b""
    if block.startswith(_GZIP_MAGIC) or b"\n" not in block:
        return []
    return block[: block.rfind(b"\n")].decode("utf-8", "replace").split("\n")[:count]


def is_awaited(seconds: float = 0.0) -> bool:
    """Return whether all lines of standard input so far have been read, and no more come within so many seconds: who
    writes them may be waiting for an answer. Never true of a file, nor on systems that cannot tell (Windows)."""
    if _held is None or _held.tell() < _held.getbuffer().nbytes:
        return False
    try:
        return not select.select([sys.stdin], [], [], seconds)[0]
    except (OSError, ValueError):
        return False


@contextmanager
def opened(path: str, at_line: Callable[[], int]) -> Iterator[IO[bytes]]:
    """Open the bytes of a file (`-`: standard input), unpacked if gzip; `at_line` returns the line for errors."""
    with nullcontext(sys.stdin.buffer) if path == STANDARD_STREAM else Path(path).open("rb") as file:
        buffered = file if hasattr(file, "peek") else io.BufferedReader(file)  # type: ignore[type-var]
        try:
            is_gzip = buffered.peek(2)[:2] == _GZIP_MAGIC
            yield cast(
                "IO[bytes]", io.BufferedReader(_Unpacked(buffered, path, at_line), _BYTES) if is_gzip else buffered
            )
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise CorpusError(f"broken gzip data ({error})", "a whole gzip file", path, at_line()) from error


class _Packed:
    """A file whose bytes are counted when they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.size = file, 0

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read1(size)  # type: ignore[attr-defined]  # what a pipe has ready
        self.size += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """The content of gzip data. Reading raises CorpusError where it is far longer than text would be.

    zlib packs a thousand equal bytes into one, so a megabyte could become a corpus of a gigabyte in memory.
    """

    def __init__(self, file: IO[bytes], path: str, at_line: Callable[[], int]) -> None:
        self._packed, self._path, self._at_line = _Packed(file), path, at_line
        self._content, self._size = gzip.GzipFile(fileobj=cast("IO[bytes]", self._packed), mode="rb"), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        content = self._content.read1(len(buffer))
        self._size += len(content)
        if self._size > max(_UNPACKED, _UNPACKED_RATIO * self._packed.size):
            problem = f"gzip data of {self._packed.size:,} bytes that become {self._size:,} or more"
            raise CorpusError(problem, f"at most {_UNPACKED_RATIO} times as many", self._path, self._at_line())
        buffer[: len(content)] = content
        return len(content)


def _arriving(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of standard input, without reading ahead more than a pipe has ready."""
    global _held  # noqa: PLW0603 - there is one standard input
    for block in _whole_lines(file):
        _held = io.BytesIO(block)
        yield from iter(_held.readline, b"")


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that end with a line break; a line that is too long is cut."""
    pieces: list[bytes] = []
    size = 0
    while chunk := file.read1(_BYTES):  # type: ignore[attr-defined]
        if cut := chunk.rfind(b"\n") + 1 or (size > LONGEST and len(chunk)):
            yield b"".join([*pieces, chunk[:cut]])
            pieces, size = [], 0
        pieces.append(chunk[cut:])
        size += len(pieces[-1])
    if last := b"".join(pieces):
        yield last


def decode_line(line: bytes, path: str, number: int) -> str:
    """Decode one line, without its line break; the error about a file that is no text says what it seems to be."""
    kind = ""
    if number == 1:
        kind = next((f": it looks like {kind}" for start, kind in _KINDS.items() if line.startswith(start)), "")
        kind = ": it looks like a model" if line[8:10] == b'{"' else kind
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"the byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line ({error.reason})"
        raise CorpusError(problem, f"UTF-8{kind or _other_encoding(line, error.start)}", path, number) from error
    text = text.removesuffix("\n").removesuffix("\r")
    if number == 1:
        text = text.removeprefix("\ufeff")
    if bad := _FORBIDDEN.search(text):
        name = "a NUL character" if bad.group() == "\0" else "a carriage return inside the line"
        raise CorpusError(f"{name} at character {bad.start() + 1}", f"lines of text{kind}", path, number)
    return text


def _other_encoding(line: bytes, at: int) -> str:
    """Say how text is converted; a byte above 127 between two below is a letter of a European encoding."""
    if max(line[max(0, at - 1) : at] + line[at + 1 : at + 2], default=0) < _ASCII:
        return ": it looks like Windows-1252 (Latin-1), which `iconv -f WINDOWS-1252 -t UTF-8` converts"
    return ": `iconv -f ENCODING -t UTF-8` converts text of another encoding"


def _too_long(path: str, number: int) -> CorpusError:
    return CorpusError(f"a line of more than {LONGEST:,} bytes", "shorter lines: one sentence each", path, number)


def check_writable(path: str, devices: bool = True) -> None:
    """Raise OSError, which names the file, if it cannot be written: before the work that makes it.

    Nothing is left behind. `-` is standard output; `devices` says whether a device or a pipe may be written.
    """
    if path == STANDARD_STREAM:
        return
    target = Path(path)  # what /dev/stdout points to may have no path
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not target.exists() or target.is_file():
        with _named(path), _part(Path(os.path.realpath(path))):
            return
    if not devices:
        raise OSError(errno.EINVAL, "not a regular file", path)
    if target.is_char_device():
        with _named(path):
            device = os.open(target, os.O_WRONLY | os.O_NOCTTY)
            try:
                os.write(device, b"")
            finally:
                os.close(device)


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    """Let errors of disks name a file: those of writing name none, and temporary files are not what users know."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_WRITING or (error.filename is not None and ".part" not in str(error.filename)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def written(path: str) -> Iterator[IO[str]]:
    """Open a stream whose text becomes the file `path` when the block ends without an exception, and not before.

    If the name ends in `.gz`, the file is compressed, without a time stamp, so that the same text gives the same bytes.
    `-` is standard output, which is written immediately.
    """
    if path == STANDARD_STREAM:
        standard = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n")
        with _named("standard output"):
            try:
                yield standard
            finally:
                standard.detach()
        return
    if Path(path).exists() and not Path(path).is_file():  # a pipe or a device is written, never replaced
        with _named(path), Path(path).open("w", encoding="utf-8", newline="\n") as device:
            yield device
        return
    with whole_file(path) as temporary, temporary.open("wb") as file:
        packed = (
            gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0)
            if path.endswith(".gz")
            else nullcontext(file)
        )
        with packed as target, io.TextIOWrapper(target, encoding="utf-8", newline="\n") as stream:
            yield stream


@contextmanager
def written_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a stream as `written`, of bytes, which are never compressed."""
    if path == STANDARD_STREAM:
        with _named("standard output"):
            yield sys.stdout.buffer
        return
    with whole_file(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def whole_file(path: Path | str) -> Iterator[Path]:
    """Make an empty temporary file, which becomes the file `path` when the block ends without an exception.

    A symbolic link stays, and the file that it points to is replaced. The new file has the permissions of the old one,
    or if there was none, the usual ones of a new file.
    """
    target = Path(os.path.realpath(path))
    try:
        before = target.stat()  # asked once: another process may remove it in between
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with _named(target), _part(target) as folder:
        file = folder / target.name
        file.touch()
        mode = (before or file.stat()).st_mode
        yield file
        file.chmod(mode & 0o777)  # a writer may have replaced the file
        file.replace(target)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Make an empty temporary folder, which becomes the folder `path` when the block ends without an exception."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _part(path) as folder:
        new, old = folder / "new", folder / "old"
        new.mkdir()
        yield new
        if path.exists():
            path.rename(old)
        new.rename(path)


def remove_left(folder: Path, pattern: str = "*") -> None:
    """Remove what killed processes have left in a folder of files whose names match a pattern."""
    for left in folder.glob(f"{pattern}.????????.part"):
        with suppress(OSError):  # somebody is at work there, or has just removed it
            lock = _locked(left)
            try:
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    """Make a folder in which `target` is made; it is removed at the end."""
    folder, name = target.parent, target.name[-_NAME:]
    remove_left(folder, escape(name))
    try:
        unfinished, lock = _make_locked(folder, name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
    try:
        yield unfinished
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make_locked(folder: Path, name: str) -> tuple[Path, int | None]:
    """Make a folder with its lock; `None` where the system has no such locks, so that nobody removes it, either."""
    while True:
        unfinished = folder / f"{name}.{secrets.token_hex(4)}.part"
        unfinished.mkdir(mode=0o700)
        try:
            lock = _locked(unfinished)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process has taken it for left over, before it was locked
        except OSError:
            return unfinished, None
        if unfinished.exists():
            return unfinished, lock
        os.close(lock)


def _locked(folder: Path) -> int:
    if fcntl is None:
        raise OSError(errno.ENOTSUP, "no locks", str(folder))
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(file)
        raise
    return file


def short_name(path: str) -> str:
    """Return the name of a file without its folders."""
    return PureWindowsPath(path).name  # which knows the separators of all systems


def digest(path: str) -> str:
    """Return the SHA-256 digest of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
