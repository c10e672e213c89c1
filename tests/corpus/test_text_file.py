"""Text read by lines and by blocks of lines, which are the same, and written whole."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tracemalloc
from itertools import chain, count, islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.files import first_lines, in_blocks, is_awaited, read_blocks, read_lines, written
from tagweave.errors import CorpusError
from tagweave.features.vector_files import read_vectors


def lines_of(tmp_path, content, name="x.txt"):
    path = tmp_path / name
    path.write_bytes(content)
    return list(read_lines(str(path)))


def test_lines_end_at_line_feeds_only(tmp_path):
    text = "a\u2028b\x0bc\x0cd\x85e\nf\r\n\ng"
    assert lines_of(tmp_path, text.encode()) == ["a\u2028b\x0bc\x0cd\x85e", "f", "", "g"]


def test_byte_order_mark_is_skipped(tmp_path):
    assert lines_of(tmp_path, b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n") == ["a", "\ufeffb"]


def test_gzip_is_recognised_by_content(tmp_path):
    assert lines_of(tmp_path, gzip.compress("山\n水\n".encode()), "x.txt") == ["山", "水"]
    assert lines_of(tmp_path, b"plain\n", "x.gz") == ["plain"]
    assert lines_of(tmp_path, b"") == []


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"ok\nab\xffc\n", 2, "found the byte 0xff at byte 3 of the line (invalid start byte), expected UTF-8"),
        (b"ab\xe5\xb1", 1, "found the byte 0xe5 at byte 3 of the line (unexpected end of data), expected UTF-8"),
        (b"\xed\xa0\x80\n", 1, "found the byte 0xed at byte 1 of the line (invalid continuation byte), expected UTF-8"),
        (b"a\n\nb\0c\n", 3, "found a NUL character at character 2, expected lines of text"),
        (b"a\rb\n", 1, "found a carriage return inside the line at character 2, expected lines of text"),
        (
            "a/X\n".encode("utf-16"),
            1,
            "found the byte 0xff at byte 1 of the line (invalid start byte), expected UTF-8: it looks like UTF-16",
        ),
    ],
)
def test_bad_bytes(tmp_path, content, line, message):
    with pytest.raises(CorpusError) as caught:
        lines_of(tmp_path, content)
    assert str(caught.value).startswith(f"{tmp_path / 'x.txt'}:{line}: {message}")


@pytest.mark.parametrize("cut", [5, 12, -4, None])
def test_broken_gzip(tmp_path, cut):
    content = bytearray(gzip.compress(os.urandom(2000).hex().encode())[:cut])
    if cut is None:
        content[len(content) // 2] ^= 0xFF
    with pytest.raises(CorpusError, match=r"x\.txt:\d+: found "):
        lines_of(tmp_path, content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack("山\nb".encode()))))
    assert list(read_lines("-")) == ["山", "b"]


def test_writes_the_whole_file(tmp_path):
    path = tmp_path / "x.txt"
    with written(str(path)) as stream:
        stream.write("山\n")
        assert not path.exists()
    assert path.read_bytes() == "山\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_compresses_by_name_and_repeatably(tmp_path):
    for name in ("a.gz", "b.gz"):
        with written(str(tmp_path / name)) as stream:
            stream.write("x\n")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"x\n"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_standard_output(capfdbinary, monkeypatch):
    with open(1, "w", encoding="ascii", closefd=False) as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with written("-") as stream:
            stream.write("山\n")
        stdout.write("still open\n")
    assert capfdbinary.readouterr().out == "山\nstill open\n".encode()


def test_a_pipe_is_written_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with written(str(path)) as stream:
            stream.write("x\n")
        assert os.read(reader, 10) == b"x\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("reader", [read_lines, read_blocks])
def test_a_line_without_end_is_refused_where_it_begins_to_be_too_long(tmp_path, reader):
    path = tmp_path / "x.txt"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"short\n")
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(CorpusError, match=r"x\.txt:2: found a line of more than 16,777,216 bytes, expected shorter"):
        list(reader(str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000


@pytest.mark.parametrize("reader", [read_lines, read_blocks, read_vectors])
def test_gzip_data_that_become_far_more_are_refused(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(files, "_UNPACKED", 1 << 20)
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"word 0 0 0 0\n" * 100_000))
    with pytest.raises(
        CorpusError, match=r"x\.gz:\d+: found gzip data of [\d,]+ bytes that become 1,\d{3},\d{3} or more"
    ):
        list(reader(str(path)))
    path.write_bytes(gzip.compress("".join(f"word{i} {i} {i * i} 1\n" for i in range(60_000)).encode()))
    reader(str(path))


def test_the_longest_line(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 6)
    assert lines_of(tmp_path, b"abcde\nabcdef") == ["abcde", "abcdef"]
    with pytest.raises(CorpusError, match=r":2: found a line of more than 6 bytes"):
        lines_of(tmp_path, b"ab\nabcdef\n")


def test_standard_input_is_awaited_after_the_last_line_that_came(monkeypatch: pytest.MonkeyPatch) -> None:
    receiving, sending = os.pipe()
    with os.fdopen(receiving) as stream, os.fdopen(sending, "w") as pipe:
        monkeypatch.setattr("sys.stdin", stream)
        monkeypatch.setattr(files, "_held", None)
        assert not is_awaited()  # nobody reads it
        lines = read_lines("-")
        seen = []
        for text, count in (("one\ntwo\n", 2), ("three\nhal", 1), ("f\n", 1)):
            pipe.write(text)
            pipe.flush()
            seen += [(next(lines), is_awaited()) for _ in range(count)]
        pipe.close()
        assert not is_awaited()  # its end has come
        assert list(lines) == []
    assert seen == [("one", False), ("two", True), ("three", True), ("half", True)]


def test_the_first_lines_remain_to_be_read(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a\nb\nc", "utf-8")
    assert first_lines(str(tmp_path / "a"), 2) == ["a", "b"]
    for content, expected in ((b"a\nb\nc", ["a", "b"]), (b"a", []), (gzip.compress(b"a\nb\n"), [])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        assert first_lines("-", 9) == expected
        assert list(read_lines("-"))[:2] == (["a"] if content == b"a" else ["a", "b"])
    os.mkfifo(tmp_path / "pipe")
    assert first_lines(str(tmp_path / "pipe"), 9) == []


PIECES = [b"\n", b"\r\n", b"a", "好".encode(), b"\xef\xbb\xbf", b"\xe5\xa5", b"\x0b", "\u2028".encode(), b"\0", b"\r"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blocks") / "text"


def by_lines(path: Path) -> list[str] | str:
    try:
        return list(read_lines(str(path)))
    except CorpusError as error:
        return str(error)


def by_blocks(path: Path, size: int) -> list[str] | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BYTES", size)
        try:
            blocks = list(read_blocks(str(path)))
        except CorpusError as error:
            return str(error)
    assert all(block.endswith("\n") for block in blocks)
    return "".join(blocks).split("\n")[:-1]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.integers(1, 9), st.booleans())
def test_the_lines_are_those_of_read_lines(file: Path, pieces: list[bytes], size: int, packed: bool) -> None:
    text = b"".join(pieces)
    file.write_bytes(gzip.compress(text) if packed else text)
    assert by_blocks(file, size) == by_lines(file)


def test_broken_gzip_data(file: Path) -> None:
    file.write_bytes(gzip.compress(b"abc\n" * 1000)[:-9])
    with pytest.raises(CorpusError, match="broken gzip data"):
        list(read_blocks(str(file)))


def test_standard_input_comes_as_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.RawIOBase):
        """Gives a line at a time."""

        def __init__(self) -> None:
            self.left = [b"one\n", b"two\nth", b"ree"]

        def readable(self) -> bool:
            return True

        def readinto(self, room: memoryview) -> int:  # type: ignore[override]
            piece = self.left.pop(0) if self.left else b""
            room[: len(piece)] = piece
            return len(piece)

    slow = Slow()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(slow)))
    blocks = read_blocks("-")
    assert next(blocks) == "one\n"
    assert len(slow.left) == 2
    assert list(blocks) == ["two\n", "three\n"]


@given(st.lists(st.integers()), st.integers(1, 7))
def test_blocks_are_full_but_for_the_last_one(items: list[int], size: int) -> None:
    blocks = [*in_blocks(items, size)]
    assert [*chain.from_iterable(blocks)] == items
    assert all(len(block) == size for block in blocks[:-1])
    assert all(1 <= len(block) <= size for block in blocks)


def test_no_more_is_read_than_asked_for() -> None:
    numbers = count()
    assert [*islice(in_blocks(numbers, 3), 2)] == [[0, 1, 2], [3, 4, 5]]
    assert next(numbers) == 6


@pytest.mark.parametrize("size", [0, -1])
def test_blocks_of_nothing_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"found blocks of {size}"):
        next(in_blocks([1], size))
