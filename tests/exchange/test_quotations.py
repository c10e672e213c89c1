"""Quotations are found in their text, however they are misspelt, and nothing else is."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.errors import CorpusError
from tagweave.exchange.load import load, recognized
from tagweave.exchange.quotations import ABSENT, AS_IT_IS, COVERED, MENDED, Quotation, Tally, apart, located
from tagweave.front.description import describe

TEXT = "Majid Takht-Ravanchi met Zoë O'Neal of the New York Times in New York , U.S. , Graz and Graz ."


def found(*quoted: tuple[str, str], text: str = TEXT) -> tuple[list[tuple[str, str]], dict[str, int]]:
    tally = Tally()
    places = located(text, [Quotation(*each) for each in quoted], tally)
    assert places == sorted(places)
    assert all(one.stop <= other.start for one, other in pairwise(places))
    assert tally.counts.total() == len(quoted)
    return [(text[each.start : each.stop], each.quotation.label) for each in places], dict(tally.counts)


@pytest.mark.parametrize(
    ("quoted", "there", "how"),
    [
        ("New York Times", ["New York Times"], AS_IT_IS),
        ("Graz", ["Graz", "Graz"], AS_IT_IS),  # quoted once, there twice
        ("U.S.", ["U.S."], AS_IT_IS),
        ("US", ["U.S"], MENDED),
        ("us", [], ABSENT),  # a word, not a country
        ("new", [], ABSENT),  # case counts in three letters, not in four
        ("graz", ["Graz", "Graz"], MENDED),
        ("majid takht ravanchi", ["Majid Takht-Ravanchi"], MENDED),
        ("MajidTakhtRavanchi", ["Majid Takht-Ravanchi"], MENDED),
        ("Majid Taht Ravanchy", ["Majid Takht-Ravanchi"], MENDED),  # two letters
        ("Majid Taht Ravansky", [], ABSENT),  # four
        ("“Zoe O’Neal”", ["Zoë O'Neal"], MENDED),
        ("Zoe\u0308 O'Neal", ["Zoë O'Neal"], MENDED),
        ("York T", [], ABSENT),  # ends in a word
        ("Berlin", [], ABSENT),
    ],
)
def test_a_quotation(quoted: str, there: list[str], how: str) -> None:
    assert found((quoted, "X")) == ([(each, "X") for each in there], {how: 1})


def test_overlaps_repetitions_and_labels_that_contradict() -> None:
    both = ("New York", "LOC"), ("New York Times", "ORG")
    assert found(*both) == ([("New York Times", "ORG"), ("New York", "LOC")], {AS_IT_IS: 2})
    assert found(("York Times", "X"), ("New York Times", "ORG"))[1] == {AS_IT_IS: 1, COVERED: 1}
    assert found(("Graz", "LOC"), ("graz", "LOC"), ("Graz", "LOC"))[0] == [("Graz", "LOC")] * 2
    in_turn = ("Graz", "LOC"), ("Graz", "PER"), ("Graz", "ORG")
    assert found(*in_turn) == ([("Graz", "LOC"), ("Graz", "PER")], {AS_IT_IS: 2, COVERED: 1})


def test_digits_are_never_mended_and_likeness_to_two_words_decides_nothing() -> None:
    assert found(("season 1996-97", "X"), text="the season 1995-97")[1] == {ABSENT: 1}
    assert found(("Jonsenius", "X"), text="Jansenius and Jensenius")[1] == {ABSENT: 1}


def test_languages_without_blanks_and_other_scripts() -> None:
    assert found(("王小明", "PER"), ("北京", "LOC"), text="王小明去北京。")[0] == [("王小明", "PER"), ("北京", "LOC")]
    assert found(("राम", "PER"), text="रामायण में राम")[0] == [("राम", "PER")]
    assert found(("서울", "LOC"), text="서울에서 왔다")[0] == [("서울", "LOC")]
    assert found(("😀", "X"), text="a 😀 b")[0] == [("😀", "X")]


LETTERS = st.text("abcX", min_size=1, max_size=9)


@given(st.lists(LETTERS, min_size=1, max_size=8), st.data())
def test_a_phrase_of_the_text_is_found_wherever_it_stands(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    phrase = " ".join(words[first:last])
    places = located(text, [Quotation(phrase, "X")], Tally())
    assert places and {text[each.start : each.stop] for each in places} == {phrase}
    begins, count = 0, 0
    while (at := f" {text} ".find(f" {phrase} ", begins)) >= 0:  # from left to right
        begins, count = at + len(phrase) + 1, count + 1
    assert len(places) == count


def test_a_short_word_that_may_belong_to_a_misspelt_one_decides_nothing() -> None:
    assert found(("zzaaaaaaaaa", "X"), text="x aaaaaaaaaa")[1] == {ABSENT: 1}


@given(
    st.text("abcd", min_size=10, max_size=14), st.lists(st.text("abcX", min_size=3, max_size=9), max_size=3), st.data()
)
def test_two_other_letters_are_mended(word: str, others: list[str], data: st.DataObject) -> None:
    """Whatever the letters and wherever they are, since a third of the word is left as it is."""
    spelt = word
    for _ in range(2):
        at = data.draw(st.integers(0, len(spelt) - 1))
        spelt = spelt[:at] + data.draw(st.sampled_from(["", "z", f"z{spelt[at]}"])) + spelt[at + 1 :]
    if len(spelt) < 10:
        return
    text = " ".join([*others, word])
    assert [text[a:b] for a, b, _ in located(text, [Quotation(spelt, "X")], Tally())] == [word]


@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.integers(0, 2))
def test_distances(one: str, other: str, most: int) -> None:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):  # Wagner and Fischer 1974
        before, row = row, [at]
        for to, each in enumerate(other, 1):
            row.append(min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != each)))
    assert apart(one, other, most) == min(row[-1], most + 1)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "absent"), [(10_000, False), (1000, True)])
def test_long_texts_and_many_quotations_take_seconds(size: int, absent: bool) -> None:
    letters = dict(zip(b"0123456789", "qwertyuiop", strict=True))
    words = [f"{chr(97 + at % 23)}{at * 7919 % 99991:x}".translate(letters) for at in range(140_000)]
    text = " ".join(words)
    quoted = [Quotation(" ".join(words[at : at + 2]) + "qqjxq" * absent, "X") for at in range(0, 14 * size, 14)]
    assert len(text) > 800_000 and len(quoted) == size
    began, tally = time.process_time(), Tally()
    located(text, quoted, tally)
    assert tally.counts == {ABSENT if absent else AS_IT_IS: size}
    assert time.process_time() - began < 20


def test_a_text_of_one_letter_is_refused() -> None:
    with pytest.raises(CorpusError, match="found so many quotations"):
        located("ab " * 300_000, [Quotation("ab " * each + "ab", "X") for each in range(200)], Tally())


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines), "utf-8")
    return path


def test_a_file_of_answers_is_a_corpus(tmp_path: Path) -> None:
    """Also its lines without spans and by label; lines that were cut off are left out, and told."""
    file = write(
        tmp_path / "answers.jsonl",
        {"text": "Nobody slept .", "spans": []},
        {
            "text": "Ann Bell left Graz's .",
            "spans": [{"text": "ann bell", "label": "PER"}, {"text": "Graz", "type": "LOC"}],
        },
        {"tokens": ["Bob", "!"], "entities": {"PER": ["Bob", "Tim"], "LOC": []}},
        '{"text": "Ann left", "spans": [{"te',
        {"text": "Ann left", "spans": None},
        {"text": "Ann left", "spans": [{"text": "left", "start": 0, "end": 4, "label": "X", "probability": 0.5}]},
    )
    assert recognized(str(file)) == "answers"
    layers = [[each and each[0] for each in sentence.layers["tag"]] for sentence in load(str(file))]
    assert layers == [["O"] * 3, ["B-PER", "I-PER", "O", "B-LOC", "O"], ["B-PER", "O"], ["O", "B-X"]]
    line = describe(str(file))["reading"]
    for part in (
        "5 quotations, 3 found as they are, ",
        ", 1 after mending their spelling (line 2: 'ann bell', in the text 'Ann Bell')",
        "1 not found (line 3: 'Tim')",
        "labels: PER 3, LOC 1, X 1",
        "1 of 4 spans are not whole tokens of a line and were widened, such as the span 'Graz'",
        "1 of 4 documents have no span: their tokens were taken to be outside of spans",
        "not kept: 2 lines that are no answers (",
        "answers.jsonl:4: found no JSON",
        "tokens end at blanks, and those in no span are O",
    ):
        assert part in line, line
    told: list[str] = []
    tw.read_documents("answers", file, misaligned="widen", tell=told.append)
    assert "; ".join(told) in line


def test_a_file_of_broken_answers_is_refused(tmp_path: Path) -> None:
    good, cut = {"text": "Ann", "spans": [{"text": "Ann", "label": "PER"}]}, '{"text": "Ann'
    file = write(tmp_path / "a.jsonl", *[good] * 50, *[cut] * 11)
    with pytest.raises(CorpusError, match=r"a.jsonl:51: found no JSON .*; 11 of 61 lines are no answers"):
        load(str(file))


def test_answers_of_a_labelling_function_quote_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quotation is looked up once, and told."""
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence
    from tagweave.exchange import answers as quoting

    looked_up, look_up = list[str](), quoting.located
    monkeypatch.setattr(quoting, "located", lambda text, *rest: looked_up.append(text) or look_up(text, *rest))
    answers = {"text": "Ann Bell left Graz's.", "spans": {"PER": ["Anne Bell"], "LOC": ["Graz"]}}
    write(tmp_path / "answers.jsonl", answers)
    functions = write(tmp_path / "f.json", {"functions": [{"name": "llm", "type": "answers", "file": "answers.jsonl"}]})
    told: list[str] = []
    text = Corpus((Sentence(("Ann", "Bell", "left", "Graz's", ".")),))
    (sentence,) = tw.apply_functions(text, functions, tell=told.append)
    assert looked_up == [answers["text"]]
    assert sentence.layers["llm"] == (("B-PER",), ("I-PER",), None, ("B-LOC",), None)
    assert told[0].startswith(
        "llm: 2 quotations, 1 found as they are, 1 after mending their spelling (line 1: 'Anne Bell'"
    )
