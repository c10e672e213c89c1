from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tracemalloc

import pytest

from tagweave.corpus import files
from tagweave.corpus.files import first_lines, is_awaited, read_blocks, read_lines, written
from tagweave.errors import CorpusError


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
    assert str(caught.value) == f"{tmp_path / 'x.txt'}:{line}: {message}"


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
