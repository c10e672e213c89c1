"""Words from dictionaries that MeCab has compiled."""

from __future__ import annotations

import struct
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.tsuboi_2008.unidic import read_dictionary, unidic_words
from tagweave.errors import CorpusError

MAGIC = 0xEF718F77


def compiled(words: list[str], charset: bytes = b"utf8") -> bytes:
    """A dictionary with the trie of some words and nothing else, as MeCab lays it out."""
    units = b"".join(struct.pack("<iI", base, check) for base, check in trie(sorted({w.encode() for w in words})))
    size = 72 + len(units)
    numbers = (MAGIC ^ size, 0x66, 0, len(words), 1, 1, len(units), 0, 0, 0)
    return struct.pack("<10I", *numbers) + charset.ljust(32, b"\0") + units


def trie(words: list[bytes]) -> list[tuple[int, int]]:
    """A double array, as Darts makes it, but every node takes a block of its own."""
    units, free = {0: (1, 0)}, 1
    waiting = [(0, b"")]
    while waiting:
        node, prefix = waiting.pop()
        base, free = free, free + 258
        units[node] = (base, units[node][1])
        for byte in sorted(
            {word[len(prefix)] for word in words if word.startswith(prefix) and len(word) > len(prefix)}
        ):
            units[base + byte + 1] = (0, base)
            waiting.append((base + byte + 1, prefix + bytes([byte])))
        if prefix in words:
            units[base] = (-1, base)
    return [units.get(i, (0, 0)) for i in range(free)]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1), min_size=1))
def test_every_word_is_found(words: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sys.dic"
        path.write_bytes(compiled(words))
        assert read_dictionary(path) == sorted(set(words))


@pytest.mark.parametrize(
    "content",
    [b"", b"short", b"x" * 100, compiled(["ab"])[:-8], compiled(["ab"], b"euc-jp"), compiled(["ab"]) + b"\0"],
)
def test_something_else_is_told(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "sys.dic"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="expected a dictionary that MeCab has compiled") as told:
        read_dictionary(path)
    assert str(path) in str(told.value)


def test_unidic() -> None:
    if find_spec("unidic_lite") is None:
        pytest.skip("unidic-lite is not installed")
    words = unidic_words()
    assert len(words) > 500_000
    assert len(set(words)) == len(words)
    assert {"日本", "病院", "食べる", "東京"} <= set(words)
    assert all(len(word) > 1 for word in words)
