from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.formats import plain
from tagweave.corpus.sentence import Sentence


def written(write, *sentences):
    stream = io.StringIO()
    write(sentences, stream)
    return stream.getvalue()


def test_segmented_has_forms_only():
    first, empty, second = plain.read_segmented(["山  上　有\t水", "", "是 的"], "x.txt")
    assert first.forms == ("山", "上", "有", "水")
    assert first.layers == {} and first.columns == {}
    assert empty.forms == ()
    assert second.location == ("x.txt", 3)
    assert written(plain.write_segmented, first, empty, second) == "山 上 有 水\n\n是 的\n"


def test_raw_keeps_every_character():
    line = "  a b\u3000山\u2028\u0301"
    (sentence,) = plain.read_raw([line])
    assert sentence.forms == tuple(line)
    assert sentence.layers == {}
    assert written(plain.write_raw, sentence) == line + "\n"


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)))
def test_raw_round_trip(lines):
    assert written(plain.write_raw, *plain.read_raw(lines)) == "".join(line + "\n" for line in lines)


@given(st.lists(st.lists(st.text("ab/|\\\u00a0", min_size=1), max_size=4)))
def test_segmented_round_trip(sentences):
    lines = [" ".join(words) for words in sentences]
    assert written(plain.write_segmented, *plain.read_segmented(lines)) == "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("write", [plain.write_raw, plain.write_segmented])
def test_unknown_labels_are_no_labels(write):
    assert written(write, Sentence(("a", "b"), {"tag": (None, None)})).replace(" ", "") == "ab\n"
