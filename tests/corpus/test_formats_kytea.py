from __future__ import annotations

from functools import partial
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import texts
from tagweave.corpus.formats import kytea
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

written = partial(texts.written, kytea)


def read_one(line):
    (sentence,) = texts.read(kytea, line)
    return sentence


def segmentation(line):
    return read_one(line).layers["segmentation"]


def consistent(length):
    """All label sequences of whole words, each with the T - 1 boundaries that it means."""
    for bounds in product("|-", repeat=length - 1):
        inside = ["|", *bounds, "|"]
        names = {("|", "|"): "S", ("|", "-"): "B", ("-", "-"): "M", ("-", "|"): "E"}
        yield bounds, tuple(names[pair] for pair in pairwise(inside))


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_candidates_are_exactly_what_the_boundaries_leave(length):
    characters = "abcd"[:length]
    for marks in product("|- ?", repeat=length - 1):
        line = "".join(c + m for c, m in zip(characters, [*marks, ""], strict=True))
        allowed = [
            labels
            for bounds, labels in consistent(length)
            if all(mark in (bound, " ", "?") for mark, bound in zip(marks, bounds, strict=True))
        ]
        for position, candidates in enumerate(segmentation(line)):
            possible = {labels[position] for labels in allowed}
            assert set(candidates or "BMES") == possible
            assert (candidates is None) == (possible == set("BMES"))


def test_unknown_inside_is_none():
    assert segmentation("a b c") == (("B", "S"), None, ("E", "S"))


def test_tags_belong_to_all_characters_of_their_word():
    sentence = read_one("a-b/N|c/V&N|d e")
    assert sentence.forms == tuple("abcde")
    assert sentence.layers["tag"] == (("N",), ("N",), ("V", "N"), None, None)
    assert written(sentence) == "a-b/N|c/V&N|d e\n"


def test_tag_reaches_left_only_over_known_joints():
    sentence = read_one("a b-c/N|d")
    assert sentence.layers["tag"] == (None, ("N",), ("N",), None)
    assert written(sentence) == "a b-c/N|d\n"


def test_further_levels():
    sentence = read_one("a/N/ei|b//bi|c")
    assert sentence.layers["tag"] == (("N",), None, None)
    assert sentence.layers["tag2"] == (("ei",), ("bi",), None)
    assert written(sentence) == "a/N/ei|b//bi|c\n"


def test_escapes():
    sentence = read_one("\\||\\/-\\\\/a\\-b\\&c|\\ |&|?")
    assert sentence.forms == ("|", "/", "\\", " ", "&", "?")
    assert sentence.layers["tag"] == (None, ("a-b&c",), ("a-b&c",), None, None, None)
    again = read_one(written(sentence))
    assert (again.forms, again.layers) == (sentence.forms, sentence.layers)


def test_skipped_boundaries_are_unknown():
    assert segmentation("a?b|c") == segmentation("a b|c")
    assert written(read_one("a?b|c")) == "a b|c\n"


def test_empty_line():
    sentence = read_one("")
    assert sentence.forms == () and sentence.layers == {"segmentation": (), "tag": ()}
    assert written(sentence) == "\n"


CHARACTERS = st.sampled_from("ab|-/ ?&\\山")
TAG = st.none() | st.lists(st.text(CHARACTERS, min_size=1, max_size=3), min_size=1, max_size=2, unique=True)


@st.composite
def partial_lines(draw):
    marks = draw(st.lists(st.sampled_from("|- "), max_size=6))
    escape = lambda text: "".join(f"\\{c}" if c in "|-/ ?&\\" else c for c in text)  # noqa: E731
    line = ""
    for mark in [*marks, ""]:
        line += escape(draw(CHARACTERS))
        tag = draw(TAG) if mark in ("|", "") else None
        line += "" if tag is None else "/" + "&".join(map(escape, tag))
        line += mark
    return line


@given(partial_lines())
def test_round_trip(line):
    assert written(read_one(line)) == line + "\n"


def naive(line: str) -> list[tuple[str, str, str]]:
    """Of every character itself, its tag field and the mark after it, read one after the other."""
    items, at = [], 0

    def escaped() -> str:
        nonlocal at
        text = line[at : at + 2] if line[at] == "\\" else line[at]
        at += len(text)
        if text == "\\":
            raise ValueError("nothing escaped")
        return text

    while at < len(line):
        if line[at] in "|- /":
            raise ValueError("no character")
        character, field = escaped()[-1], ""
        while at < len(line) and (line[at] == "/" or (field and line[at] not in "|- ?")):
            field += escaped()
        mark = line[at : at + 1]
        at += 1
        if (mark not in tuple("|- ?") and mark) or bool(mark) == (at >= len(line)) or (field and mark not in ("|", "")):
            raise ValueError("not between two characters")
        items.append((character, field, mark))
    return items


@given(st.text("ab|- ?/\\", max_size=8) | partial_lines())
def test_what_is_read_is_what_one_reads_character_by_character(line):
    try:
        items = naive(line)
    except ValueError:
        with pytest.raises(CorpusError, match=r"made-up:1: found "):
            read_one(line)
        return
    sentence = read_one(line)
    assert sentence.forms == tuple(character for character, _, _ in items)
    marks = [mark.replace("?", " ") for _, _, mark in items[:-1]]
    assert sentence.layers["segmentation"] == (kytea.segmentation_layer(marks) if items else ())
    told = [len(field.replace("/", "")) > 0 for _, field, _ in items]
    known = [
        any(sentence.layers[name][at] for name in sentence.layers if name != "segmentation") for at in range(len(items))
    ]
    for at, (_, _, mark) in enumerate(items):
        assert known[at] == (known[at + 1] if mark == "-" else told[at])


def test_what_reading_would_take_for_a_byte_order_mark_is_escaped():
    sentence = Sentence(("\ufeff", "a"))
    assert written(sentence) == "\\\ufeff a\n"
    assert read_one("\\\ufeff a").forms == sentence.forms


@given(st.lists(st.none() | st.sets(st.sampled_from("BMES"), min_size=1).map(tuple), min_size=1, max_size=4))
def test_writing_keeps_the_allowed_sequences_or_refuses(layer):
    """What is read again allows exactly the same segmentations; other sets of labels are refused."""
    sentence = Sentence(tuple("abcd"[: len(layer)]), {"segmentation": tuple(layer)})
    allowed = {s for _, s in consistent(len(layer)) if all(c is None or x in c for x, c in zip(s, layer, strict=True))}
    try:
        line = written(sentence)
    except CorpusError:
        products = ({"B"}, {"M"}, {"E"}, {"S"}, {"B", "S"}, {"M", "E"}, {"B", "M"}, {"E", "S"}, set("BMES"))
        assert not allowed or any(c is not None and set(c) not in products for c in layer)
        return
    again = segmentation(line)
    assert allowed == {
        s for _, s in consistent(len(layer)) if all(c is None or x in c for x, c in zip(s, again, strict=True))
    }
    assert allowed
