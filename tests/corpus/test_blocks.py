"""Streams in blocks."""

from __future__ import annotations

from itertools import chain, count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.files import in_blocks


@given(st.lists(st.integers()), st.integers(1, 7))
def test_blocks_are_full_but_for_the_last_one(items: list[int], size: int) -> None:
    blocks = [*in_blocks(items, size)]
    assert [*chain.from_iterable(blocks)] == items
    assert all(len(block) == size for block in blocks[:-1])
    assert all(1 <= len(block) <= size for block in blocks)


def test_no_more_is_read_than_asked_for() -> None:
    numbers = count()
    assert [*islice(in_blocks(numbers, 3), 2)] == [[0, 1, 2], [3, 4, 5]]
    assert next(numbers) == 6


@pytest.mark.parametrize("size", [0, -1])
def test_blocks_of_nothing_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"found blocks of {size}"):
        next(in_blocks([1], size))
