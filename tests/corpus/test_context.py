"""A word in context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.describe import Context
from tagweave.corpus.sentence import Location, Sentence

SENTENCE = Sentence(tuple("abcdefg"), location=Location("file", 3))


@pytest.mark.parametrize(
    ("at", "width", "shown"),
    [
        (0, 2, "[a] b c …"),
        (1, 2, "a [b] c d …"),
        (3, 2, "… b c [d] e f …"),
        (3, 3, "a b c [d] e f g"),
        (6, 2, "… e f [g]"),
        (3, 0, "… [d] …"),
        (3, 99, "a b c [d] e f g"),
    ],
)
def test_the_neighbours_and_a_mark_for_what_is_left_out(at: int, width: int, shown: str) -> None:
    assert str(Context.of(SENTENCE, at, width)) == shown


def test_the_place_and_the_number_of_the_token() -> None:
    context = Context.of(SENTENCE, 4)
    assert (context.word, context.position, context.source) == ("e", 5, "file:3")
    assert Context.of(Sentence(("a",)), 0).source == ""
    assert Context.of(Sentence(("a",), location=Location("file")), 0).source == "file"


@given(st.lists(st.text("ab", min_size=1), min_size=1, max_size=9), st.data())
def test_a_wide_context_is_the_sentence(forms: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(forms) - 1))
    context = Context.of(Sentence(tuple(forms)), at, len(forms))
    assert [*context.left, context.word, *context.right] == forms
    assert len(context.left) == at


def test_a_note_stands_in_brackets_behind_the_context() -> None:
    context = Context.of(Sentence(("a", "b", "c")), 1, width=1, note="head: c")
    assert str(context) == "a [b] c (head: c)"
    assert context.note == "head: c"
    assert str(Context.of(Sentence(("a",)), 0)) == "[a]"
