"""Folding of full-width and half-width forms, against the twin and against Unicode's own table."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from tagweave.corpus.characters import folded, folded_points

ANY = st.text(st.characters() | st.sampled_from("ＡｚＺ０９！～，．：／＠ｱｶﾞﾟ｡￣￥￨\u3000"))


@given(ANY)
def test_every_character_becomes_one_for_itself(text: str) -> None:
    result = folded(text)
    assert len(result) == len(text)
    assert result == "".join(map(folded, text))
    assert folded(result) == result
    assert unicodedata.normalize("NFKC", result) == unicodedata.normalize("NFKC", text)


def test_full_width_ascii_is_as_the_twin_has_it() -> None:
    wide = "".join(map(chr, range(0xFF01, 0xFF5F)))
    assert folded(wide) == naive.folded(wide) == "".join(map(chr, range(0x21, 0x7F)))
    half = "".join(map(chr, naive.HALF_WIDTH))
    assert folded(half) == naive.folded(half)


def test_only_one_block_and_the_space_change() -> None:
    changed = [point for point in range(sys.maxunicode + 1) if folded(chr(point)) != chr(point)]
    assert changed[0] == 0x3000
    assert {point >> 8 for point in changed[1:]} == {0xFF}
    for point in changed[1:]:
        kind = unicodedata.decomposition(chr(point)).split(" ")
        assert kind[0] in ("<wide>", "<narrow>") and len(kind) == 2
    kept = [p for p in range(0xFF00, 0xFFF0) if unicodedata.decomposition(chr(p)) and p not in changed]
    assert kept == [0xFFE3]


def test_the_table_of_code_points_says_the_same() -> None:
    table = folded_points()
    assert table.dtype == np.uint32 and len(table) == sys.maxunicode + 1
    moved = np.flatnonzero(table != np.arange(len(table)))
    assert [chr(p) for p in table[moved]] == [folded(chr(p)) for p in moved.tolist()]
    assert (table[table] == table).all()
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1
