"""Words counted from arrays of labels, against the words that the labels decode to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.labels.coding import to_words
from tagweave.labels.words import WordCounter

NAMES = {
    "BMES": ("B", "M", "E", "S"),
    "BI": ("B", "I"),
    "boundary": ("|", "-"),
    "tagged": ("B-N", "M-N", "E-N", "S-N", "B-V", "E-V", "S-V"),
    "tagged boundary": ("|-N", "--N", "|-V", "--V"),
}


def spans(names: tuple[str, ...], sentences: list[list[int]]) -> set[tuple[int, int, int, str]]:
    """Sentence, start, end and tag of every word."""
    found = set()
    for s, labels in enumerate(sentences):
        at = 0
        for word, tag in zip(*to_words("x" * len(labels), [names[y] for y in labels]), strict=True):
            found.add((s, at, at + len(word), tag))
            at += len(word)
    return found


@pytest.mark.parametrize("coding", sorted(NAMES))
@given(data=st.data())
def test_counted_words_are_the_decoded_ones(coding: str, data: st.DataObject) -> None:
    names = NAMES[coding]
    label = st.integers(0, len(names) - 1)
    lengths = data.draw(st.lists(st.integers(0, 6), max_size=4))
    gold, system = ([data.draw(st.lists(label, min_size=n, max_size=n)) for n in lengths] for _ in range(2))
    counter = WordCounter(names, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    flat = [np.array([y for row in rows for y in row], np.int32) for rows in (gold, system)]
    ours, theirs = spans(names, gold), spans(names, system)
    for labels, words in zip(flat, (ours, theirs), strict=True):
        numbers = counter.words(labels)
        assert len(numbers) == len(words)
        assert (np.diff(numbers) > 0).all()
    expected = 2 * len(ours & theirs) / max(1, len(ours) + len(theirs))
    assert counter.f_score(*flat) == pytest.approx(expected)


def test_a_missing_label_is_a_tag_of_its_own() -> None:
    counter = WordCounter(("B-N", "S-N"), np.array([0, 2]))
    gold, missing = np.array([1, 1], np.int32), np.array([-1, -1], np.int32)
    assert counter.f_score(gold, gold) == 1
    assert counter.f_score(gold, missing) == 0
