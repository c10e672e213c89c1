"""Scores of pairs of siblings and their gradient, against explicit sums over features."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forests import pair_order
from tagweave.kernels import arc_features, arcs

LEFT, NONE = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
WORD = 1 << 64
ROWS = 64
FIRST = 3  # columns of other codes come before
SIZES = st.tuples(st.integers(0, 3), st.integers(0, 3))


class Case:
    """Random codes of a batch, and its pairs behind some arcs; every other sentence has none."""

    def __init__(self, lengths: list[int], sizes: tuple[int, int], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lengths, self.sizes = lengths, np.array(sizes, np.int64)
        self.ptr = np.concatenate([[0], np.cumsum(np.array(lengths) + 1)]).astype(np.int64)
        counts = [0 if s % 2 else len(pair_order(n)) for s, n in enumerate(lengths)]
        self.pair_ptr = np.concatenate([[5], 5 + np.cumsum(counts)]).astype(np.int64)
        width = FIRST + 3 * sizes[0] + 2 * sizes[1]
        self.codes = self.rng.integers(0, WORD, (int(self.ptr[-1]), width), np.uint64)
        self.weights = self.rng.integers(-99, 99, (ROWS, arcs.BINS)).astype(np.float32)  # whose sums are exact

    @property
    def given(self) -> tuple[Any, ...]:
        return self.codes, FIRST, self.sizes, self.ptr, self.pair_ptr

    def features(self, low: int, h: int, s: int, m: int) -> list[int]:
        """The places in the vector of weights that a pair adds up."""
        X, Y = self.sizes.tolist()
        code = lambda p, r: int(self.codes[low + p, FIRST + r])  # noqa: E731
        distance = abs(s - m)
        bin_ = 0 if s == h else distance if distance <= 5 else 6 if distance <= 10 else 7
        found = []
        for t in range(X + Y):
            row = (NONE if s == h else code(s, X + t)) + code(m, 2 * X + Y + t) + (LEFT if m < h else 0)
            row = (row + (code(h, t) if t < X else 0)) % WORD % ROWS
            found += [row * arcs.BINS, row * arcs.BINS + bin_] if bin_ else [row * arcs.BINS]
        return found

    def pairs(self) -> list[tuple[int, list[int]]]:
        """Where every pair stands, and its features; the root is no modifier."""
        found = []
        for sentence, n in enumerate(self.lengths[::2]):
            begin, low = int(self.pair_ptr[2 * sentence]), int(self.ptr[2 * sentence])
            for at, (h, s, m) in enumerate(pair_order(n)):
                found.append((begin + at, self.features(low, h, s, m) if m else []))
        return found


CASES = st.builds(Case, st.lists(st.integers(0, 13), min_size=1, max_size=3), SIZES, st.integers(0, 1000))


@settings(max_examples=30, deadline=None)
@given(CASES)
def test_a_score_is_the_sum_of_the_weights_of_features(case: Case) -> None:
    scores = np.full(int(case.pair_ptr[-1]), 7, np.float32)
    arc_features.score_pairs(case.weights, *case.given, scores)
    expected = np.full_like(scores, 7)
    for at, features in case.pairs():
        expected[at] = case.weights.reshape(-1)[features].sum()
    assert scores.tolist() == expected.tolist()


@settings(max_examples=30, deadline=None)
@given(CASES, st.sampled_from([0.0, 2.0]))
def test_the_gradient_adds_the_features_of_every_pair(case: Case, threshold: float) -> None:
    difference = case.rng.integers(-5, 6, int(case.pair_ptr[-1])).astype(np.float32)
    gradient, expected = np.zeros((ROWS, arcs.BINS), np.float32), np.zeros(ROWS * arcs.BINS, np.float32)
    rows = arc_features.add_pair_gradient(gradient, *case.given, difference, threshold)
    for at, features in case.pairs():
        if abs(difference[at]) > threshold:
            np.add.at(expected, features, difference[at])
    assert gradient.ravel().tolist() == expected.tolist()
    assert set(np.flatnonzero(gradient.any(axis=1))) <= set(rows.tolist())


def test_touched_rows_are_those_of_all_features() -> None:
    case, seen = Case([4, 2, 1], (2, 1), 3), np.zeros(ROWS, np.int32)
    expected = {place // arcs.BINS for _, features in case.pairs() for place in features}
    for stamp in (1, 2):
        found = arc_features.touched_pair_rows(*case.given, seen, stamp)
        assert sorted(found.tolist()) == sorted(expected)
