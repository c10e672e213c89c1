"""X, y and weights as users pass them, in one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.estimators.sequences import layers_of, token_sequences, weights_of

LABEL = st.text(min_size=1, max_size=3)
POSITION = st.one_of(
    st.none(),
    LABEL,
    st.lists(LABEL, min_size=1, max_size=4),
    st.lists(LABEL, min_size=1, max_size=4).map(tuple),
    st.sets(LABEL, min_size=1, max_size=4),
    st.frozensets(LABEL, min_size=1, max_size=4),
)


@given(st.lists(st.lists(POSITION, max_size=4), max_size=4))
def test_layers_keep_what_y_says(y: list[list[Any]]) -> None:
    layers = layers_of(y, [len(row) for row in y])
    assert [len(layer) for layer in layers] == [len(row) for row in y]
    for layer, row in zip(layers, y, strict=True):
        for candidates, position in zip(layer, row, strict=True):
            if position is None:
                assert candidates is None
            elif isinstance(position, str):
                assert candidates == (position,)
            else:
                assert candidates is not None and set(candidates) == set(position)
                assert len(set(candidates)) == len(candidates)
                if isinstance(position, list | tuple):  # in the order in which they were written
                    assert list(candidates) == list(dict.fromkeys(position))


def test_the_order_of_a_set_is_no_matter_of_chance() -> None:
    assert layers_of([[{"b", "a", "c"}, frozenset("cab")]], [2]) == [(("a", "b", "c"), ("a", "b", "c"))]


def test_equal_candidates_in_other_orders_are_kept_apart() -> None:
    assert layers_of([[("b", "a"), {"a", "b"}, ["b", "a", "b"]]], [3]) == [(("b", "a"), ("a", "b"), ("b", "a"))]


def test_numpy_brings_strings_that_become_ordinary() -> None:
    ((first, second),) = layers_of([np.array(["A", "B"])], [2])
    assert (first, second) == (("A",), ("B",))
    assert first is not None and type(first[0]) is str
    ragged = np.empty(1, object)
    ragged[0] = ["A", None]
    assert layers_of(ragged, [2]) == [(("A",), None)]


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ((), "an empty set"),
        (frozenset(), "an empty set"),
        (0, "found 0, expected a label"),
        (float("nan"), "found nan, expected a label"),
        (b"\xff", r"found the bytes b'\\xff', expected UTF-8"),
        ({"A": 1}, "expected a label"),
        (["A", 1], "found 1 as a label"),
        ([["A"]], r"found \['A'\] as a label"),
        ({"A", None}, "found None as a label"),
    ],
)
def test_what_is_no_label_is_refused(position: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sentence 1 of y, position 2: .*{message}"):
        layers_of([["A"], ["A", "B", position]], [1, 3])


@pytest.mark.parametrize("y", ["AB", {"A": 1}, 3, b"A"])
def test_y_must_be_a_list_of_sentences(y: Any) -> None:
    with pytest.raises(ValueError, match=r"y: found .*expected a list of sentences"):
        layers_of(y, [1, 1])


def test_tokens_may_be_dicts_lists_sets_and_generators() -> None:
    X = ([{"a": 1}, ["b"], {"c"}] for _ in range(2))
    assert token_sequences(X) == [[{"a": 1}, ["b"], {"c"}]] * 2
    assert token_sequences([]) == [] and token_sequences([[], []]) == [[], []]
    assert token_sequences(iter([iter([["a"]])])) == [[["a"]]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["the", "dog"]], "sentence 0 of X: found 'the' as token 0"),
        ([[["a"], b"the"]], "found b'the' as token 1"),
        ([[["a"]], [["a"], None]], "sentence 1 of X: found None as token 1"),
        (["the dog"], "sentence 0 of X: found 'the dog'"),
        ([{"word": "the"}], "sentence 0 of X: found {'word': 'the'}"),
        ([None], "sentence 0 of X: found None"),
        (None, "X: found None, expected a list of sentences"),
        ({"a": 1}, "X: found"),
    ],
)
def test_what_is_no_sentence_is_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        token_sequences(X)


def test_weights_are_checked() -> None:
    assert weights_of(None, 3) == [1, 1, 1]
    assert weights_of(np.array([0.5, 2, 0], np.float32), 3) == [0.5, 2, 0]
    for weights, message in (([1], "found 1 weights, expected 2"), ([1, -0.5], "-0.5 for sentence 1")):
        with pytest.raises(ValueError, match=message):
            weights_of(weights, 2)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="expected a finite number"):
            weights_of([value], 1)
