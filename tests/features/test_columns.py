"""Columns against the naive twin: two forms have the same code exactly if they have the same value; 0 is absent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from tagweave.features.columns import LIST_COLUMNS, SCALAR_COLUMNS, FormColumns, character_class

FORMS = st.lists(st.text(naive.ALPHABET, max_size=12), max_size=12)


def _check_codes(values: list[list[str]], codes: list[int]) -> None:
    """One value, one code, and 0 for none."""
    assert [code == 0 for code in codes] == [not value for value in values]
    keys = [tuple(value) for value in values]
    assert len(set(zip(keys, codes, strict=True))) == len(set(keys)) == len(set(codes))


@given(forms=FORMS)
def test_scalar_columns(forms: list[str]) -> None:
    columns = FormColumns(forms)
    for name in sorted(SCALAR_COLUMNS):
        codes = columns.scalar(name)
        assert codes.shape == (len(forms),)
        assert codes.dtype == np.uint64
        _check_codes([naive.column(name, form) for form in forms], codes.tolist())


@given(forms=FORMS)
def test_list_columns(forms: list[str]) -> None:
    columns = FormColumns(forms)
    for name in sorted(LIST_COLUMNS):
        ptr, codes = columns.listed(name)
        values = [naive.column(name, form) for form in forms]
        assert np.diff(ptr).tolist() == [len(value) for value in values]
        assert ptr[0] == 0
        assert len(codes) == ptr[-1]
        _check_codes([[value] for row in values for value in row], codes.tolist())


@pytest.mark.parametrize("script", sorted(naive.SCRIPTS))
def test_classes_of_characters(script: str) -> None:
    assert len({character_class(character) for character in naive.SCRIPTS[script]}) == 1


def test_scripts_have_different_classes() -> None:
    assert len({character_class(characters[0]) for characters in naive.SCRIPTS.values()}) == len(naive.SCRIPTS)


@pytest.mark.parametrize("pair", [("A", "Ａ"), ("1", "１"), ("!", "！"), ("ア", "ｱ"), ("一", "⼀")])
def test_half_and_full_width_have_one_class_but_two_forms(pair: tuple[str, str]) -> None:
    narrow, wide = pair
    assert character_class(narrow) == character_class(wide)
    codes = FormColumns(pair).scalar("form")
    assert codes[0] != codes[1]


def test_astral_characters_are_one_character() -> None:
    columns = FormColumns(["𠀀", "𠀀𠀁", "x"])
    assert columns.length.tolist() == [1, 2, 1]
    assert columns.scalar("single")[0] == columns.scalar("first")[1] == columns.scalar("prefix_1")[1] != 0
    assert columns.scalar("single")[1] == 0


def test_lone_surrogates_do_not_stop_a_corpus() -> None:
    codes = FormColumns(["\ud800", "\udfff"]).scalar("form")
    assert 0 < codes[0] != codes[1] > 0


def test_codes_are_functions_of_the_content_alone() -> None:
    alone = FormColumns(["中国"]).scalar("form")[0]
    among = FormColumns(["", "x", "中国", "国"]).scalar("form")[2]
    assert alone == among
    assert FormColumns(["国中"]).scalar("form")[0] != alone


@pytest.mark.parametrize("pair", [("A", "Ａ"), ("12%", "１２％"), (",", "，"), ("ア", "ｱ"), (" ", "\u3000")])
def test_folded_forms_are_one(pair: tuple[str, str]) -> None:
    codes = FormColumns(pair).scalar("folded")
    assert codes[0] == codes[1] == FormColumns(pair[:1]).scalar("form")[0]
    assert FormColumns(["A", "a", "ａ", "。", "."]).scalar("folded").tolist().count(codes[0]) == (pair[0] == "A")
