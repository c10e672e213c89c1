"""The feature index: ids in order of first occurrence, growing, freezing, and back to codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.features.encoder import FeatureIndex

CODES = st.lists(st.integers(0, 30).map(lambda n: n * 0x9E3779B97F4A7C15 % 2**64), max_size=60)


def array(codes: list[int]) -> np.ndarray:
    return np.array(codes, np.uint64)


@given(CODES, CODES)
def test_ids_number_codes_in_order_of_first_occurrence(first: list[int], second: list[int]) -> None:
    index = FeatureIndex()
    ids = index.ids(array(first)).tolist() + index.ids(array(second)).tolist()
    numbers = {code: i for i, code in enumerate(dict.fromkeys(code for code in first + second if code))}
    assert ids == [numbers.get(code, -1) for code in first + second]
    assert len(index) == len(numbers)
    assert index.codes().tolist() == list(numbers)


@given(CODES, CODES, st.integers(1, 4))
def test_freezing_drops_rare_codes_and_keeps_the_order(codes: list[int], other: list[int], minimum: int) -> None:
    index = FeatureIndex()
    index.ids(array(codes))
    old = index.codes().tolist()
    new = index.freeze(minimum)
    kept = [code for code in old if codes.count(code) >= minimum]
    assert index.codes().tolist() == kept
    assert new.tolist() == [kept.index(code) if code in kept else -1 for code in old]
    assert index.ids(array(other)).tolist() == [kept.index(code) if code in kept else -1 for code in other]
    assert len(index) == len(kept)


@given(CODES, CODES)
def test_an_index_made_from_its_codes_is_the_frozen_index(codes: list[int], other: list[int]) -> None:
    index = FeatureIndex()
    index.ids(array(codes))
    index.freeze()
    again = FeatureIndex.of_codes(index.codes())
    assert again.frozen
    assert again.codes().tolist() == index.codes().tolist()
    assert again.ids(array(other)).tolist() == index.ids(array(other)).tolist()


def test_ids_keep_the_shape_of_codes() -> None:
    codes = np.array([[1, 2, 0], [2, 3, 1]], np.uint64)
    assert FeatureIndex().ids(codes).tolist() == [[0, 1, -1], [1, 2, 0]]
    assert FeatureIndex().ids(codes.T).tolist() == [[0, 1], [1, 2], [-1, 0]]
    assert FeatureIndex().ids(np.zeros((0, 3), np.uint64)).shape == (0, 3)


@pytest.mark.parametrize("calls", [1, 7])
def test_a_large_index_grows_and_counts(calls: int) -> None:
    codes = np.random.default_rng(5).integers(1, 2**63, 40_000, np.uint64)
    codes = np.concatenate([codes, codes[:10_000]])
    index = FeatureIndex()
    for part in np.array_split(codes, calls):
        index.ids(part)
    distinct = len(set(codes.tolist()))
    assert len(index) == distinct
    assert index.counts[:distinct].sum() == len(codes)
    new = index.freeze(2)
    assert len(index) == int((np.unique(codes, return_counts=True)[1] >= 2).sum())
    assert new[new >= 0].tolist() == list(range(len(index)))
    assert (index.ids(codes[:10_000]) >= 0).all()
    assert (index.ids(np.arange(1, 100, dtype=np.uint64)) == -1).all()


def test_codes_with_the_same_slot_stay_distinct() -> None:
    codes = array([(n << 40) + 5 for n in range(1, 200)])
    index = FeatureIndex()
    assert index.ids(codes).tolist() == list(range(199))
    index.freeze()
    assert index.ids(codes[::-1]).tolist() == list(range(198, -1, -1))
    assert index.ids(array([5, (300 << 40) + 5])).tolist() == [-1, -1]


@pytest.mark.parametrize(
    "codes",
    [[n << 40 for n in range(1, 2000)], [5, 6, 5], [5, 0, 6], [(n % 2000 << 40) + n // 2000 for n in range(10**6)]],
    ids=["on one slot", "twice", "0", "a million on 500 slots"],
)
def test_invalid_codes_from_a_file_are_refused(codes: list[int]) -> None:
    with pytest.raises(ValueError, match=r"feature \d+ has a code"):
        FeatureIndex.of_codes(array(codes))
