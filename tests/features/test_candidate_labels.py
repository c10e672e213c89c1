"""Candidate labels of tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tagweave.evidence.sequences import CandidateLabels

MASKS = arrays(bool, st.tuples(st.integers(0, 6), st.integers(1, 5)))


def mask_of(candidates: CandidateLabels, labels: int) -> np.ndarray:
    mask = np.zeros((len(candidates.ptr) - 1, labels), bool)
    for token, (low, high) in enumerate(zip(candidates.ptr[:-1], candidates.ptr[1:], strict=True)):
        own = candidates.labels[low:high].tolist()
        assert len(own) == len(set(own)), "a label twice"
        mask[token, own] = True
    return mask


@given(MASKS)
def test_a_mask_survives_a_round_trip_and_a_token_without_labels_gets_all(mask: np.ndarray) -> None:
    expected = np.array([row if row.any() else np.ones_like(row) for row in mask], bool).reshape(mask.shape)
    np.testing.assert_array_equal(mask_of(CandidateLabels.of_mask(mask), mask.shape[1]), expected)


@given(MASKS, st.data())
def test_tokens_can_be_taken_in_any_order(mask: np.ndarray, data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, len(mask) - 1), max_size=8)) if len(mask) else []
    candidates = CandidateLabels.of_mask(mask)
    taken = candidates.take(np.array(order, np.int64))
    np.testing.assert_array_equal(mask_of(taken, mask.shape[1]), mask_of(candidates, mask.shape[1])[order])


@given(MASKS, st.integers(0, 6))
def test_candidates_are_concatenated_in_the_order_of_tokens(mask: np.ndarray, cut: int) -> None:
    parts = [CandidateLabels.of_mask(part) for part in (mask[:cut], mask[cut:])]
    np.testing.assert_array_equal(
        mask_of(CandidateLabels.concatenate(parts), mask.shape[1]),
        mask_of(CandidateLabels.of_mask(mask), mask.shape[1]),
    )


@given(st.integers(1, 5).flatmap(lambda y: st.tuples(arrays(bool, (4, y)), arrays(bool, (3, y)))), st.data())
def test_allowed_labels_are_added_where_the_evidence_excludes_all_candidates(
    drawn: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    mask, sets = drawn
    sets = sets | ~sets.any(axis=1, keepdims=True)
    allow = np.array(data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)), np.int32)
    before = mask_of(CandidateLabels.of_mask(mask), mask.shape[1])
    after = mask_of(CandidateLabels.of_mask(mask).including(allow, sets), mask.shape[1])
    for old, new, allowed in zip(before, after, sets[allow], strict=True):
        np.testing.assert_array_equal(new, old if (old & allowed).any() else old | allowed)
    assert (after & sets[allow]).any(axis=1).all()


def test_concatenating_nothing() -> None:
    candidates = CandidateLabels.concatenate([])
    assert (candidates.ptr.tolist(), candidates.labels.tolist()) == ([0], [])
    with pytest.raises(IndexError):
        candidates.take(np.array([0]))
