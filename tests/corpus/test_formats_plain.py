from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import raw, segmented
from tagweave.corpus.sentence import Sentence


def written(module, *sentences):
    stream = io.StringIO()
    module.write(sentences, stream)
    return stream.getvalue()


def test_segmented_has_forms_only():
    first, empty, second = segmented.read(["山  上　有\t水", "", "是 的"], "x.txt")
    assert first.forms == ("山", "上", "有", "水")
    assert first.layers == {} and first.columns == {}
    assert empty.forms == ()
    assert second.location == ("x.txt", 3)
    assert written(segmented, first, empty, second) == "山 上 有 水\n\n是 的\n"


def test_raw_keeps_every_character():
    line = "  a b\u3000山\u2028\u0301"
    (sentence,) = raw.read([line])
    assert sentence.forms == tuple(line)
    assert sentence.layers == {}
    assert written(raw, sentence) == line + "\n"


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)))
def test_raw_round_trip(lines):
    assert written(raw, *raw.read(lines)) == "".join(line + "\n" for line in lines)


@given(st.lists(st.lists(st.text("ab/|\\\u00a0", min_size=1), max_size=4)))
def test_segmented_round_trip(sentences):
    lines = [" ".join(words) for words in sentences]
    assert written(segmented, *segmented.read(lines)) == "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("module", [raw, segmented])
def test_labels_are_never_dropped(module):
    unknown = Sentence(("a", "b"), {"tag": (None, None)})
    assert written(module, unknown).replace(" ", "") == "ab\n"
    with pytest.raises(CorpusError, match="labels in layer 'tag', expected no labels"):
        written(module, unknown.with_layer("tag", (None, ("X", "Y"))))


@pytest.mark.parametrize("form", ["", "ab"])
def test_raw_refuses_words(form):
    with pytest.raises(CorpusError, match="expected forms of one character in raw text"):
        written(raw, Sentence(("a", form)))


@pytest.mark.parametrize("form", ["", "a b", "a\u3000b", "a\tb"])
def test_segmented_refuses_blanks(form):
    with pytest.raises(CorpusError, match="neither empty nor has blanks"):
        written(segmented, Sentence(("a", form)))
