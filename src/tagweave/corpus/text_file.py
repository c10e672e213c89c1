"""Text files: read line by line, strictly as UTF-8, gzip or not; written completely or not at all."""

from __future__ import annotations

import gzip
import io
import re
import select
import sys
import zlib
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.named.name import located
from tagweave.corpus.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STANDARD_STREAM = "-"
"""The path that means standard input or standard output."""

LONGEST = 1 << 24
"""Bytes of the longest line, including its line break: more than any book, and little enough for memory. A megabyte of
gzip data can be a line of a gigabyte."""

_BYTES = 1 << 20
_LEVEL = 4  # of compression: the usual 9 takes four times as long for 4 % less, most of the time of segmenting
_held: io.BytesIO | None = None  # the block of standard input that is being read
_GZIP_MAGIC = b"\x1f\x8b"
_KINDS = {
    b"PK\x03\x04": "a zip file, such as those of Word and Excel",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"SQLite": "a database",
    b"lCRF": "a model",
}
_FORBIDDEN = re.compile("[\0\r]")


def read_lines(path: str) -> Iterator[str]:
    """The lines of a file (`-`: standard input) without their line breaks (`\\n`, `\\r\\n`), one at a time.

    A file that begins with the gzip magic number is decompressed, whatever its name. A byte order mark is skipped.

    Raises:
        CorpusError: a line that is not UTF-8, contains NUL or a carriage return before its end, or is longer than
            `LONGEST`; broken gzip data.
        OSError: the file cannot be opened or read.
    """
    number = 0
    with opened(path, lambda: number + 1) as file:
        lines = _arriving(file) if path == STANDARD_STREAM else iter(partial(file.readline, LONGEST + 1), b"")
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST:
                raise too_long(path, number)
            yield decode_line(line, path, number)


def first_lines(path: str, count: int) -> list[str]:
    """The first lines of a file; of standard input, whole lines that have arrived, which remain to be read.

    None of a pipe with a name, which can be read only once, nor of compressed standard input.

    Raises:
        CorpusError, OSError: as `read_lines`, but not for standard input.
    """
    if path != STANDARD_STREAM:
        return list(islice(read_lines(path), count)) if Path(path).is_file() else []
    peek = getattr(sys.stdin.buffer, "peek", None)
    block = peek(1) if peek else b""
    if block.startswith(_GZIP_MAGIC) or b"\n" not in block:
        return []
    return block[: block.rfind(b"\n")].decode("utf-8", "replace").split("\n")[:count]


def is_awaited(seconds: float = 0.0) -> bool:
    """Whether all lines of standard input so far have been read, and no more come within so many seconds.

    Then whoever writes them may be waiting for an answer. Never true of a file, nor on systems that cannot tell
    (Windows).
    """
    if _held is None or _held.tell() < _held.getbuffer().nbytes:
        return False
    try:
        return not select.select([sys.stdin], [], [], seconds)[0]
    except (OSError, ValueError):
        return False


def _arriving(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of standard input, without reading ahead more than a pipe has ready."""
    global _held  # noqa: PLW0603 - there is one standard input
    for block in whole_lines(file):
        _held = io.BytesIO(block)
        yield from iter(_held.readline, b"")


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a file in blocks that end with a line break; a line that is too long is cut."""
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


def too_long(path: str, number: int) -> CorpusError:
    """The error of a line that has more bytes than `LONGEST`."""
    return CorpusError(f"a line of more than {LONGEST:,} bytes", "shorter lines: one sentence each", path, number)


@contextmanager
def opened(path: str, at_line: Callable[[], int]) -> Iterator[IO[bytes]]:
    """The bytes of a file (`-`: standard input), decompressed if it begins with the gzip magic number.

    Raises:
        DataError: the name of a corpus that cannot be fetched.
        CorpusError: broken gzip data while the file is read; `at_line` returns the line.
        OSError: the file cannot be opened or read.
    """
    with nullcontext(sys.stdin.buffer) if path == STANDARD_STREAM else Path(located(path)).open("rb") as file:
        buffered = file if hasattr(file, "peek") else io.BufferedReader(file)  # type: ignore[type-var]
        try:
            yield _decompressed(buffered)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise CorpusError(f"broken gzip data ({error})", "a whole gzip file", path, at_line()) from error


def _decompressed(file: IO[bytes]) -> IO[bytes]:
    is_gzip = file.peek(2)[:2] == _GZIP_MAGIC  # type: ignore[attr-defined]
    return cast("IO[bytes]", gzip.open(file)) if is_gzip else file


def decode_line(line: bytes, path: str, number: int) -> str:
    """The text of one line, without its line break; `number` counts from 1.

    Raises:
        CorpusError: not UTF-8, or NUL or a carriage return inside the line.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line ({error.reason})"
        raise CorpusError(found, f"UTF-8{_guess(line, number)}", path, number) from error
    text = text.removesuffix("\n").removesuffix("\r")
    if number == 1:
        text = text.removeprefix("\ufeff")
    if bad := _FORBIDDEN.search(text):
        name = "a NUL character" if bad.group() == "\0" else "a carriage return inside the line"
        expected = f"lines of text{_guess(line, number)}"
        raise CorpusError(f"{name} at character {bad.start() + 1}", expected, path, number)
    return text


def _guess(line: bytes, number: int) -> str:
    """Return what a file that is no text seems to be, by its first line; "" if that is unknown."""
    kind = next((kind for start, kind in _KINDS.items() if number == 1 and line.startswith(start)), "")
    if number == 1 and line[8:10] == b'{"':
        kind = "a model"
    return kind and f": it looks like {kind}"


@contextmanager
def written(path: str) -> Iterator[IO[str]]:
    """A stream whose text becomes the file `path` when the block ends without an exception, and not before.

    The text goes to a temporary file beside it, which then takes its name (`whole_file`). If the name ends in `.gz`,
    the file is compressed, without a time stamp, so that the same text gives the same bytes. `-` is standard output,
    which is written immediately.

    Raises:
        OSError: the file cannot be written.
    """
    if path == STANDARD_STREAM:
        standard = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n")
        try:
            yield standard
        finally:
            standard.detach()
        return
    if Path(path).exists() and not Path(path).is_file():  # a pipe or a device is written, never replaced
        with Path(path).open("w", encoding="utf-8", newline="\n") as device:
            yield device
        return
    with whole_file(path) as part, part.open("wb") as file, _text_stream(file, path) as stream:
        yield stream


@contextmanager
def written_bytes(path: str) -> Iterator[IO[bytes]]:
    """As `written`, of bytes, which are never compressed. Raises as `written`."""
    if path == STANDARD_STREAM:
        yield sys.stdout.buffer
        return
    with whole_file(path) as part, part.open("wb") as file:
        yield file


@contextmanager
def _text_stream(file: IO[bytes], path: str) -> Iterator[IO[str]]:
    if path.endswith(".gz"):
        with (
            gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream,
        ):
            yield stream
    else:
        with io.TextIOWrapper(file, encoding="utf-8", newline="\n") as stream:
            yield stream
