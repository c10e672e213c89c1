"""Occurrences of features in a byte each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagweave.models.occurrences import in_bytes, of_bytes


@given(st.lists(st.integers(0, 3_600_000_000), min_size=1))
def test_counts_are_true_to_a_twentieth(counts: list[int]) -> None:
    exact = np.array(counts, np.int64)
    told = of_bytes(in_bytes(exact))
    assert (abs(told - exact) <= 0.05 * exact).all()
    np.testing.assert_array_equal(in_bytes(told), in_bytes(exact))  # what is stored again stays what it is


def test_a_tenth_more_is_noted() -> None:
    counts = np.arange(10, 10_000, dtype=np.int64)
    assert (in_bytes(counts + (counts + 9) // 10) > in_bytes(counts)).all()
    assert in_bytes(np.array([1 << 60])) == 255
