"""Sorted positions against sorting strings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.kernels import text_arrays

SENTENCES = st.lists(st.text("ab", max_size=40), min_size=1, max_size=6)
STEPS = pytest.mark.parametrize("step", [1, -1])


def laid_out(sentences):
    text = np.array([text_arrays.END, *(ord(c) for each in sentences for c in (*each, "\0"))], np.uint32)
    text.flags.writeable = False  # as users' kernels are compiled
    return text


def sorted_positions(text, step):
    order = np.empty(np.count_nonzero(text), np.uint32)
    counts = np.zeros(int(text.max()) + 2, np.int64)
    text_arrays.first_characters(text, counts, order)
    begin = 0
    for end in np.unique(counts[1:]).tolist():
        text_arrays.sort_run(text, step, order[begin:end], np.empty(end - begin, np.uint64))
        begin = end
    return order


def reads(text, step, position):
    """What stands from a position on to the end of the sentence."""
    found = []
    while text[position] != text_arrays.END:
        found.append(chr(text[position]))
        position += step
    return "".join(found)


def by_strings(text, step):
    positions = np.flatnonzero(text).tolist()
    return sorted(positions, key=lambda p: (reads(text, step, p)[: text_arrays.DEPTH], p))


@STEPS
@given(sentences=SENTENCES)
def test_the_order_of_strings(step, sentences):
    text = laid_out(sentences)
    assert sorted_positions(text, step).tolist() == by_strings(text, step)


@STEPS
@pytest.mark.parametrize(
    "sentences",
    [
        pytest.param(["abab", "ba"] * 60, id="equal sentences keep their order"),
        pytest.param(["a" * (3 * text_arrays.DEPTH), "a" * text_arrays.DEPTH + "b"], id="no more than the depth"),
        pytest.param([f"{chr(0x4E00 + i * 7919 % 20000)}{chr(1 + i * 101)}" for i in range(900)] * 2, id="characters"),
    ],
)
def test_large_runs(step, sentences):
    text = laid_out(sentences)
    assert sorted_positions(text, step).tolist() == by_strings(text, step)


@STEPS
@given(sentences=SENTENCES, words=st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_run_of_a_word_has_its_occurrences(step, sentences, words):
    text = laid_out(sentences)
    order = sorted_positions(text, step)
    points = np.array([ord(c) for word in words for c in word], np.uint32)
    ptr = np.cumsum([0, *map(len, words)])
    start, stop = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    order.flags.writeable = points.flags.writeable = False
    text_arrays.runs(text, step, order, points, ptr, start, stop)
    for k, word in enumerate(words):
        expected = [p for p in order.tolist() if reads(text, step, p).startswith(word)]
        assert order[start[k] : stop[k]].tolist() == expected
