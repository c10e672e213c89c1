"""Max-product, k-best and entropies against the enumeration of all label sequences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from batches import Case, cases, run
from tagweave.kernels import decode, distributions


def single(case: Case) -> Case:
    """With scores in the type that models have; the twin gets the same."""
    names = ("scores", "transition", "start", "end")
    return replace(case, **{name: getattr(case, name).astype(np.float32) for name in names})


ANY = cases(noisy=False).map(single)
GAPS = st.sampled_from([4.0, 1e3, 1e4])


def excluded(case: Case) -> np.ndarray:
    """The scores of a case, -inf where the evidence excludes a label."""
    scores = case.scores.copy()
    decode.exclude(scores, case.allow, case.masks)
    return scores


def ways(transition: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transition scores as decoding takes them: those, the same transposed, and their bounds."""
    return transition, transition.T.copy(), np.stack([transition.max(axis=1), transition.min(axis=1)])


def sentences(case: Case) -> list[tuple[slice, naive.Chain]]:
    """The tokens and the twin of each sentence that is not empty."""
    tokens = [slice(a, b) for a, b in zip(case.ptr.tolist(), case.ptr[1:].tolist(), strict=False)]
    return [(mine, twin) for mine, twin in zip(tokens, case.chains(True), strict=True) if twin is not None]


@given(ANY)
def test_exclude_leaves_only_allowed_labels(case: Case) -> None:
    scores = excluded(case)
    share = case.masks[case.allow]
    assert (scores[share == 1] == case.scores[share == 1]).all()
    assert (scores[share == 0] == -math.inf).all()
    np.testing.assert_allclose(scores[share > 0], (case.scores + np.log(np.maximum(share, 1e-9)))[share > 0], rtol=1e-5)


@settings(max_examples=80)
@given(GAPS.flatmap(lambda spread: cases(spread, noisy=False)).map(single))
def test_best_sequences(case: Case) -> None:
    labels = np.full(len(case.allow), -7, np.int32)
    some = (*ways(case.transition), case.start, case.end, case.ptr)
    decode.best_sequences(excluded(case), *some, 0, len(case.lengths), labels)
    for tokens, twin in sentences(case):
        best = naive.k_best(twin, 1)
        found = tuple(labels[tokens].tolist())
        if best:
            assert twin.log_weight(found) == pytest.approx(best[0][0], rel=1e-4, abs=1e-4)
        else:
            assert set(found) == {-1}


@given(ANY)
def test_best_sequences_of_some_sentences_touch_no_other(case: Case) -> None:
    count = len(case.lengths)
    first, last = count // 3, count
    tokens = slice(case.ptr[first], case.ptr[last])
    labels, all_labels = np.empty(tokens.stop - tokens.start, np.int32), np.empty(len(case.allow), np.int32)
    some = (*ways(case.transition), case.start, case.end, case.ptr)
    decode.best_sequences(excluded(case)[tokens].copy(), *some, first, last, labels)
    decode.best_sequences(excluded(case), *some, 0, count, all_labels)
    assert labels.tolist() == all_labels[tokens].tolist()


def test_of_equal_sequences_the_one_with_the_smallest_labels_wins() -> None:
    labels = np.empty(3, np.int32)
    zero, zeros = np.zeros(2, np.float32), np.zeros((2, 2), np.float32)
    assert decode.best_sequence(np.zeros((3, 2), np.float32), zeros, zeros, zeros, zero, zero, labels) == 0
    assert labels.tolist() == [0, 0, 0]


def every_source(scores: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """delta by the recurrence as it stands, in the type of the scores."""
    delta = scores.copy()
    for t in range(1, len(delta)):
        delta[t] += (delta[t - 1][:, None] + transition).max(axis=0)
    return delta


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 100.0]))
def test_skipping_impossible_labels_is_bit_identical(seed: int, spread: float) -> None:
    """Where labels differ by more than transitions most of them are left out, and where they do not, none."""
    rng = np.random.default_rng(seed)
    labels, length = int(rng.integers(1, 140)), int(rng.integers(1, 12))
    scores = rng.normal(0, spread, (length, labels)).astype(np.float32)
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    transition = np.where(rng.random((labels, labels)) < 0.1 * (seed % 2), -np.inf, rng.normal(size=(labels, labels)))
    transition, zero = transition.astype(np.float32), np.zeros(labels, np.float32)
    bounds, found = np.empty((2, labels), np.float32), scores.copy()
    decode.row_bounds(transition.T.copy(), bounds)
    np.testing.assert_array_equal(bounds, [transition.max(axis=1), transition.min(axis=1)])
    path = np.empty(length, np.int32)
    best = decode.best_sequence(found, transition, transition.T.copy(), bounds, zero, zero, path)
    expected = every_source(scores, transition)
    np.testing.assert_array_equal(found, expected)
    assert best == expected[-1].max()
    assert (path >= 0).all() == (best > -np.inf)
    if best > -np.inf:
        total = scores[0, path[0]]
        for t in range(1, length):
            total = scores[t, path[t]] + (total + transition[path[t - 1], path[t]])
        assert total == best


@settings(max_examples=60)
@given(ANY, st.integers(1, 12))
def test_the_k_best_sequences(case: Case, k: int) -> None:
    for tokens, twin in sentences(case):
        scores = excluded(case)[tokens].copy()
        labels, totals = np.full((k, len(scores)), -7, np.int32), np.full(k, np.nan)
        decode.k_best_sequences(scores, case.transition, case.start, case.end, labels, totals)
        expected = naive.k_best(twin, k)
        assert totals[len(expected) :].tolist() == [-math.inf] * (k - len(expected))
        np.testing.assert_allclose(totals[: len(expected)], [score for score, _ in expected], rtol=1e-5, atol=1e-4)
        found = [tuple(row) for row in labels[: len(expected)].tolist()]
        assert len(set(found)) == len(found)
        for total, sequence in zip(totals, found, strict=False):
            assert twin.log_weight(sequence) == pytest.approx(total, rel=1e-5, abs=1e-4)
        assert (labels[len(expected) :] == -1).all()


@given(ANY, st.data())
def test_path_score(case: Case, data: st.DataObject) -> None:
    for tokens, twin in sentences(case):
        labels = data.draw(
            st.tuples(*[st.integers(0, len(case.start) - 1)] * len(twin.scores)), label=f"labels of {tokens}"
        )
        score = decode.path_score(
            excluded(case)[tokens].copy(), case.transition, case.start, case.end, np.array(labels, np.int32)
        )
        assert score == pytest.approx(twin.log_weight(labels), rel=1e-5, abs=1e-4)


@settings(max_examples=50)
@given(cases(spread=2.0, noisy=False))
def test_entropy_of_every_span(case: Case) -> None:
    found = run(case, True, np.float32, True)
    for s, twin in enumerate(case.chains(True)):
        if twin is None or naive.log_partition(twin) == -math.inf:
            continue
        length, size = len(twin.scores), len(twin.start)
        pairs = np.concatenate([np.full((1, size, size), np.nan), found.xi[s]])
        spans = np.array([(a, b) for a in range(length) for b in range(a + 1, length + 1)])
        entropies = np.empty(len(spans))
        distributions.span_entropies(found.gamma[s], pairs, *spans.T.copy(), entropies)
        assert entropies.tolist() == pytest.approx([naive.entropy(twin, *span) for span in spans], abs=1e-3)
