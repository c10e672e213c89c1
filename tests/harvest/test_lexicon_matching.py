"""Maximum matching against matching by hand, and what is found as partial annotation."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import files
from tagweave.corpus.formats import kytea
from tagweave.harvest.lexicon import parse
from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher, common, united
from tagweave.kernels.trie import Spans, code_points, run_characters

ALPHABET = "甲乙丙aB1\n"
words = st.lists(st.text(ALPHABET.strip(), min_size=1, max_size=4), max_size=12, unique=True)
texts = st.text(ALPHABET, max_size=30)


def in_run(text: str, at: int) -> bool:
    return 0 < at < len(text) and all(c.isascii() and c.isalnum() for c in text[at - 1 : at + 1])


def naive_forward(text: str, entries: set[str]) -> list[tuple[int, int]]:
    found, i = [], 0
    while i < len(text):
        stops = [j for j in range(len(text), i, -1) if text[i:j] in entries and not in_run(text, i)]
        stop = next((j for j in stops if not in_run(text, j)), None)
        if stop is None:
            i += 1
        else:
            found.append((i, stop))
            i = stop
    return found


def naive_backward(text: str, entries: set[str]) -> list[tuple[int, int]]:
    turned = naive_forward(text[::-1], {word[::-1] for word in entries})
    return [(len(text) - stop, len(text) - start) for start, stop in reversed(turned)]


def naive(text: str, entries: set[str], scheme: str) -> list[tuple[int, int]]:
    forward, backward = naive_forward(text, entries), naive_backward(text, entries)
    return {"forward": forward, "backward": backward, "agreement": sorted({*forward} & {*backward})}[scheme]


def pairs(spans: Spans) -> list[tuple[int, int]]:
    return list(zip(spans.start.tolist(), spans.stop.tolist(), strict=True))


def spans_of(*spans: tuple[int, int]) -> Spans:
    start, stop = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
    return Spans(start, stop, np.zeros(len(spans), np.int32))


@given(words, texts, st.sampled_from(["forward", "backward", "agreement"]), st.integers(1, 3))
def test_matching_is_that_by_hand(entries, text, scheme, minimum):
    matcher = LexiconMatcher((parse(entries),), scheme, minimum)
    spans = matcher.spans(code_points(text))
    assert pairs(spans) == naive(text, {word for word in entries if len(word) >= minimum}, scheme)
    assert [matcher.words[word] for word in spans.word.tolist()] == [text[i:j] for i, j in pairs(spans)]


@given(st.lists(words, min_size=1, max_size=3), texts, st.sampled_from(["all", "any"]))
def test_agreement_of_lexicons_is_that_by_hand(lexicons, text, agree):
    matcher = LexiconMatcher(tuple(map(parse, lexicons)), "agreement", 1, agree)
    sets = [{*naive(text, {*entries}, "agreement")} for entries in lexicons]
    found = set.intersection(*sets) if agree == "all" else set.union(*sets)
    clashing = {a for a, b in product(found, found) if a != b and a[0] < b[1] and b[0] < a[1]}
    spans = matcher.spans(code_points(text))
    assert pairs(spans) == sorted(found - clashing)
    assert [matcher.words[word] for word in spans.word.tolist()] == [text[i:j] for i, j in pairs(spans)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MAIL", []),
        ("AI", [(0, 2)]),
        ("用AI做", [(1, 3)]),
        ("AI-AI", [(0, 2), (3, 5)]),
        ("AI5", []),
        ("ＡＩAI", []),
        ("éAI", []),
        ("AI\u0301", []),
        ("AI AI", [(0, 2), (3, 5)]),
    ],
)
def test_no_word_is_cut_out_of_a_run_of_letters(text, found):
    for scheme in ("forward", "backward"):
        assert pairs(LexiconMatcher((parse(["AI"]),), scheme).spans(code_points(text))) == found


def test_characters_outside_the_basic_plane_and_lone_surrogates():
    matcher = LexiconMatcher((parse(["𠮷野", "野家"]),), "forward")
    assert pairs(matcher.spans(code_points("\ud800𠮷野家\U0010ffff"))) == [(1, 3)]


def test_tags_of_several_lexicons():
    lexicons = tuple(map(parse, (["a\tN|V", "b\tN", "c"], ["b\tV", "a\tV|X", "c\tN", "d"])))
    every, some = LexiconMatcher(lexicons), LexiconMatcher(lexicons, agree="any")
    assert every.words == some.words == ("a", "b", "c", "d")
    assert every.tags == (("V",), None, ("N",), None)
    assert some.tags == (("N", "V", "X"), ("N", "V"), ("N",), None)


def test_what_all_have_and_what_any_has():
    one, two = spans_of((0, 2), (3, 5), (7, 9)), spans_of((0, 2), (3, 6), (9, 11))
    assert pairs(common([one, two])) == [(0, 2)]
    assert pairs(united([one, two])) == [(0, 2), (7, 9), (9, 11)]
    assert pairs(united([spans_of((0, 9)), spans_of((1, 2)), spans_of((5, 6), (9, 10))])) == [(9, 10)]
    assert pairs(common([one, spans_of()])) == pairs(common([spans_of(), one])) == []


def test_which_characters_make_runs():
    table = run_characters()
    assert [bool(table[ord(c)]) for c in "aZéЖ1９Ａ\u0301"] == [True] * 8
    assert not any(table[ord(c)] for c in "一々ーのé"[:4] + " -。ไ")


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


def test_blanks_of_entries_and_of_text_are_boundaries():
    found = layers("在 云 计算\u00a0中\u2003心", "云 计算 20 nz", "中心 3 n")
    assert found["segmentation"] == (("S",), ("S",), ("B", "S"), ("E", "S"), ("S",), ("S",))
    assert not any(found["tag"])


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
