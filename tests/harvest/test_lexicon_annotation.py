"""What is found, as partial annotation: what the sentences allow, and that it survives KyTea's format."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.formats import kytea
from tagweave.harvest.lexicon import parse
from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher


def annotated(lines, entries, **options):
    return list(LexiconHarvest(LexiconMatcher((parse(entries),), **options), everything=True).of(lines))


def layers(line: str, *entries: str):
    (sentence,) = annotated([line], entries)
    return sentence.layers


def marked(lines, *entries: str, minimum: int = 2) -> list[str]:
    stream = io.StringIO()
    kytea.write(annotated(lines, entries, minimum=minimum), stream)
    return stream.getvalue().splitlines()


def test_a_word_is_settled_and_narrows_its_neighbours():
    expected = (("B", "S"), ("E", "S"), ("B",), ("M",), ("E",), ("B", "S"), None, ("E", "S"))
    assert layers("他在图书馆看书吧", "图书馆")["segmentation"] == expected


def test_tags_stand_at_every_character_of_a_word():
    assert layers("去开会了", "开会\tn|v", "了")["tag"] == (None, ("n", "v"), ("n", "v"), None)
    assert "tag" not in layers("去开会了", "开会")


def test_of_a_phrase_only_the_ends_are_known():
    harvest = LexiconHarvest(LexiconMatcher((parse(["图书馆\tn", "开会\tv", "去"]),), minimum=1, phrases=3))
    (sentence,) = harvest.of(["去图书馆开会"])
    assert sentence.layers["segmentation"] == (("S",), ("B", "S"), None, ("E", "S"), ("B",), ("E",))
    assert sentence.layers["tag"] == (None, None, None, None, ("v",), ("v",))
    assert harvest.words == 3


@given(st.text("甲乙丙", max_size=12), st.integers(1, 5))
def test_phrases_leave_open_what_words_settle_and_nothing_else(line, phrases):
    entries = ["甲乙", "乙丙甲", "丙甲乙甲", "丙"]
    settled, opened = (
        annotated([line], entries, minimum=1, phrases=each)[0].layers["segmentation"] for each in (None, phrases)
    )
    every = {"B", "M", "E", "S"}
    for at, (strict, free) in enumerate(zip(settled, opened, strict=True)):
        assert set(strict or every) <= set(free or every), at
    assert phrases <= 4 or settled == opened


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("我 们开会", "我|们|开-会"),
        ("  开会　我们\t", "开-会|我 们"),
        ("开 会", "开|会"),
        ("我|们-开会", r"我 \| 们 \-|开-会"),
        ("", ""),
        (" \t", ""),
    ],
)
def test_blanks_are_boundaries_and_no_characters(line, expected):
    assert marked([line], "开会") == [expected]
    tagged = marked([line], "开会\tv")
    assert tagged == [expected.replace("开-会", "开-会/v")]


@given(st.lists(st.text("甲乙丙 /-|a", max_size=12), max_size=8), st.integers(1, 20))
def test_lines_stay_lines_whatever_the_blocks(lines, size):
    entries = ["甲乙\tN", "乙丙", "丙\tV|N", "a/"]
    whole = marked(lines, *entries, minimum=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHARACTERS", size)
        assert marked(lines, *entries, minimum=1) == whole
    assert len(whole) == len(lines)
    for line, text, sentence in zip(lines, whole, annotated(lines, entries, minimum=1), strict=True):
        assert "".join(sentence.forms) == line.replace(" ", "")
        (again,) = kytea.read([text])
        assert (again.forms, again.layers) == (sentence.forms, sentence.layers)
