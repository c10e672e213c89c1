"""Labels of pieces of words, against every label of every character written out."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.labels.coding import (
    CODINGS,
    LETTERS,
    Spread,
    certain_starts,
    joined,
    label_of,
    letters,
    names_of_pieces,
    of_characters,
    spans,
    starts,
    to_words,
)
from tagweave.labels.transition_scheme import TransitionScheme

TAGS = ("N", "V")
SPELLING = {
    "BMES": {"B": "B", "M": "M", "E": "E", "S": "S"},
    "BI": {"B": "B", "M": "I", "E": "I", "S": "B"},
    "boundary": {"B": "-", "M": "-", "E": "|", "S": "|"},
}


def names(coding: str, tags: tuple[str, ...] = TAGS) -> list[str]:
    return [f"{letter}-{tag}" for letter in LETTERS[coding] for tag in tags]


def coded(words: list[tuple[int, str]], coding: str) -> list[str]:
    """The labels of the characters of words of so many characters, with their tags."""
    return [f"{SPELLING[coding][letter]}-{tag}" for length, tag in words for letter in letters(length)]


def written_out(label: str, length: int, coding: str) -> tuple[str, ...]:
    """The labels of a piece's characters: by the words that can hold it, not by a table."""
    found = {
        tuple(coded([(before + length + after, label[2:])], coding)[before : before + length])
        for before, after in product(range(3), range(3))
        if SPELLING[coding][letters_at(before, after)] == label[0]
    }
    assert len(found) == 1
    return found.pop()


def letters_at(before: int, after: int) -> str:
    """The letter of a single character with so many before and after it in its word: that of a piece there."""
    return letters(before + 1 + after)[before]


WORDS = st.lists(st.tuples(st.integers(1, 5), st.sampled_from(TAGS)), min_size=1, max_size=5)
CODED = st.sampled_from(CODINGS)


@st.composite
def cut_words(draw: st.DrawFn) -> tuple[str, list[str], list[tuple[int, int]], list[str]]:
    """A coding, labels of characters, pieces that cross no boundary, and the labels that the pieces have."""
    coding, words = draw(CODED), draw(WORDS)
    pieces, expected, at = [], [], 0
    for length, tag in words:
        cuts = [0, *(k for k in range(1, length) if draw(st.booleans())), length]
        for number, (start, end) in enumerate(pairwise(cuts)):
            letter = letters(len(cuts) - 1)[number]
            pieces.append((at + start, at + end))
            expected.append(f"{SPELLING[coding][letter]}-{tag}")
        at += length
    return coding, coded(words, coding), pieces, expected


@given(cut_words())
def test_a_piece_is_labelled_as_a_character_in_its_place(
    case: tuple[str, list[str], list[tuple[int, int]], list[str]],
) -> None:
    coding, labels, pieces, expected = case
    assert [label_of(tuple(labels[a:b]), coding) for a, b in pieces] == expected
    assert [joined(tuple((label,) for label in labels[a:b]), coding) for a, b in pieces] == [(e,) for e in expected]


@given(cut_words())
def test_pieces_and_their_labels_give_the_same_words(
    case: tuple[str, list[str], list[tuple[int, int]], list[str]],
) -> None:
    _, labels, pieces, expected = case
    text = [chr(ord("a") + i) for i in range(len(labels))]
    forms = ["".join(text[a:b]) for a, b in pieces]
    assert to_words(forms, expected) == to_words(text, labels)


@given(st.data(), CODED, st.integers(2, 5))
def test_candidates_are_joined_as_all_label_sequences_say(data: st.DataObject, coding: str, length: int) -> None:
    own = names(coding)
    candidates = st.none() | st.lists(st.sampled_from(own), min_size=1, max_size=len(own), unique=True).map(tuple)
    characters = tuple(data.draw(candidates) for _ in range(length))
    allowed = {
        label
        for label in own
        if all(
            known is None or each in known
            for each, known in zip(written_out(label, length, coding), characters, strict=True)
        )
    }
    found = joined(characters, coding)
    assert (set(own) if found is None else set(found)) == allowed
    assert found is None or len(set(found)) == len(found)


def test_what_is_not_known_of_any_character_is_not_known_of_the_piece() -> None:
    assert joined((None, None, None), "BMES") is None
    assert joined((None,), "BMES") is None
    assert joined((), "BMES") is None


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        ([("B-*",), ("E-*",)], ("S-*",)),
        ([("B-*",), ("E-N", "M-V")], ("B-V", "S-N")),
        ([None, ("E-*", "M-N")], ("B-N", "M-N", "E-*", "S-*")),
        ([("B", "M"), None], ("B", "M", "E", "S")),
        ([("M",), ("B",)], ()),
        ([("!B-N",), ("E-N",)], ()),
        ([("E", "S"), ("B", "S")], ()),
    ],
)
def test_wildcards_and_contradictions(characters: list[tuple[str, ...] | None], expected: tuple[str, ...]) -> None:
    assert set(joined(tuple(characters), "BMES") or ()) == set(expected)


def test_the_order_of_candidates_has_no_part_in_it() -> None:
    forwards = joined((("B-N", "B-V"), ("M-V", "E-N", "E-V")), "BMES")
    assert forwards == joined((("B-V", "B-N"), ("E-V", "E-N", "M-V")), "BMES") == ("B-V", "S-N", "S-V")


def test_labels_that_break_the_coding_still_give_one() -> None:
    assert label_of(("M-N", "S-V"), "BMES") == "M-N"
    assert label_of(("B-N", "E-V"), "BMES") == "B-N"


@given(st.data(), CODED)
def test_words_start_where_to_words_reads_them(data: st.DataObject, coding: str) -> None:
    labels = data.draw(st.lists(st.sampled_from(names(coding)), max_size=8))
    lengths = [len(word) for word in to_words("x" * len(labels), labels)[0]]
    expected = [False] * len(labels)
    for at in np.cumsum([0, *lengths])[:-1].tolist():
        expected[at] = True
    assert starts(labels) == expected
    assert [b - a for a, b in spans(starts(labels))] == lengths


@given(st.data(), CODED)
def test_a_start_is_certain_only_if_every_sequence_has_it(data: st.DataObject, coding: str) -> None:
    own = names(coding, ("N",))
    candidates = st.none() | st.lists(st.sampled_from(own), min_size=1, max_size=3, unique=True).map(tuple)
    layer = data.draw(st.lists(candidates, max_size=4))
    scheme = TransitionScheme.of(coding, own)
    number = {name: i for i, name in enumerate(own)}
    sequences = [
        sequence
        for sequence in product(*(own if known is None else known for known in layer))
        if all(scheme.transition[number[a], number[b]] for a, b in pairwise(sequence))
    ]
    found = certain_starts(layer)
    assert len(found) == len(layer) and found[:1] in ([], [True])
    for sequence in sequences:
        assert all(here or not certain for certain, here in zip(found, starts(sequence), strict=True))


@pytest.mark.parametrize("known", [("E",), ("S",), ("E", "S")])
def test_a_start_is_certain_after_what_ends_a_word_or_at_what_begins_one(known: tuple[str, ...]) -> None:
    assert certain_starts([None, known, None, None]) == [True, known == ("S",), True, False]
    assert certain_starts([None, None, ("B", "S"), None]) == [True, False, True, False]
    assert certain_starts([None, ("B", "M"), None, ("E", "M")]) == [True, False, False, False]
    assert certain_starts([("|",), ("-",), ("|", "-")]) == [True, True, False]
    assert certain_starts([]) == []


@given(cut_words())
def test_labels_of_pieces_spread_to_those_of_their_characters(
    case: tuple[str, list[str], list[tuple[int, int]], list[str]],
) -> None:
    coding, labels, pieces, expected = case
    own = names_of_pieces(names(coding), coding)
    numbers = {name: i for i, name in enumerate(own)}
    spread = Spread(own, coding, numbers, np.array([b - a for a, b in pieces]))
    found = spread.characters(np.array([own.index(label) for label in expected], np.int32))
    by_number = list(numbers)
    assert [by_number[i] for i in found] == labels
    assert spread.begins.tolist() == [0, *(b for _, b in pieces)]


def test_labels_that_only_characters_have_get_a_number() -> None:
    numbers = {"S": 0}
    Spread(["S"], "BMES", numbers, np.array([3]))
    assert list(numbers) == ["S", "B", "M", "E"]


@pytest.mark.parametrize("coding", CODINGS)
def test_pieces_may_have_every_letter_with_every_tag(coding: str) -> None:
    some = [f"{LETTERS[coding][0]}-N", f"{LETTERS[coding][-1]}-V"]
    assert names_of_pieces(some, coding) == tuple(sorted(names(coding)))
    assert names_of_pieces(list(LETTERS[coding]), coding) == tuple(sorted(LETTERS[coding]))
    for label in names(coding):
        first, inner, last = of_characters(label, coding)
        assert (first, inner, inner, last) == written_out(label, 4, coding)
