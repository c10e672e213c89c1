"""Blocks of whole lines are the lines of `read_lines`: the same text, the same errors."""

from __future__ import annotations

import gzip
import io
import sys
from itertools import chain, count, islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.files import in_blocks, read_blocks, read_lines
from tagweave.errors import CorpusError

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
