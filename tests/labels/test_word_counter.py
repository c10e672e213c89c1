"""Words counted from arrays of labels, against words spelled out."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.labels.coding import CODINGS, LETTERS, WordCounter, to_words

TAGS = ("", "N", "V", "-", "a-b")


def spelled(sentences: list[list[str]]) -> set[tuple[int, int, int, str]]:
    """Sentence, start, end and tag of every word."""
    found = set()
    for number, labels in enumerate(sentences):
        words, tags = to_words("x" * len(labels), labels)
        ends = list(accumulate(map(len, words)))
        found |= {(number, end - len(word), end, tag) for word, end, tag in zip(words, ends, tags, strict=True)}
    return found


@st.composite
def pairs(draw: st.DrawFn, coding: str) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Labels, and two labellings of the same sentences, whether they keep to the coding's scheme or not."""
    kinds = draw(st.lists(st.sampled_from(TAGS), min_size=1, max_size=3, unique=True))
    names = [f"{letter}-{kind}" if kind else letter for letter in LETTERS[coding] for kind in kinds]
    lengths = draw(st.lists(st.integers(0, 6), max_size=5))
    labelled = [[draw(st.lists(st.sampled_from(names), min_size=n, max_size=n)) for n in lengths] for _ in range(2)]
    return names, labelled[0], labelled[1]


@pytest.mark.parametrize("coding", CODINGS)
@settings(max_examples=40)
@given(st.data())
def test_f_is_that_of_the_words_spelled_out(coding: str, data: st.DataObject) -> None:
    names, gold, system = data.draw(pairs(coding))
    ptr = np.concatenate([[0], np.cumsum([len(labels) for labels in gold])]).astype(np.int64)
    arrays = [np.array([names.index(x) for row in rows for x in row], np.int32) for rows in (gold, system)]
    a, b = spelled(gold), spelled(system)
    counter = WordCounter(names, ptr)
    assert [len(counter.words(array)) for array in arrays] == [len(a), len(b)]
    assert counter.f_score(*arrays) == pytest.approx(2 * len(a & b) / max(1, len(a) + len(b)))


def test_no_label_is_no_gold_word() -> None:
    counter = WordCounter(["B", "E", "S"], np.array([0, 2, 3]))
    gold, none = np.array([0, 1, 2], np.int32), np.array([-1, -1, -1], np.int32)
    assert counter.f_score(gold, gold) == 1.0
    assert counter.f_score(gold, none) == 0.0
