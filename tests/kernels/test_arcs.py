"""Scores of arcs and their gradient, against explicit sums over features and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.kernels import arcs
from tagweave.kernels.arcs import PATHS

LEFT = 0xA0761D6478BD642F
PATH = 0x9FB21C651E98DF25
WORD = 1 << 64
LENGTHS = st.lists(st.integers(0, 7), min_size=1, max_size=3)
SIZES = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 4))
SEED = st.integers(0, 1000)


class Case:
    """Random codes of a batch; tokens between have few different ones, so that values repeat."""

    def __init__(self, lengths: list[int], sizes: tuple[int, ...], seed: int, rows: int = 64) -> None:
        self.rng = np.random.default_rng(seed)
        self.sizes, self.rows = np.array(sizes, np.int64), rows
        self.ptr = np.concatenate([[0], np.cumsum(np.array(lengths) + 1)]).astype(np.int64)
        T, U, V, B, G = sizes
        width = 2 * max(T, G) + U + V + 3 * B
        self.codes = self.rng.integers(0, WORD, (int(self.ptr[-1]), width), np.uint64)
        between = slice(width - 2 * B, width - B)
        self.codes[:, between] = self.rng.integers(0, 3, (int(self.ptr[-1]), B)).astype(np.uint64) * np.uint64(977)
        self.weights = self.rng.integers(-99, 99, (rows, arcs.BINS)).astype(np.float32)  # whose sums are exact
        self.cells = int((np.diff(self.ptr) ** 2).sum())
        self.paths = self.rng.integers(0, PATHS, self.cells if G else 0).astype(np.uint8)

    def scores(self, weights: Any = None) -> Any:
        out = np.full(self.cells, np.nan, np.float32)
        weights = self.weights if weights is None else weights
        arcs.score_arcs(weights, self.codes, self.sizes, self.ptr, self.paths, out)
        return out

    def features(self, cell: int, low: int, h: int, m: int) -> list[int]:
        """The places in the vector of weights that the arc adds up."""
        T, U, V, B, G = self.sizes.tolist()
        A = max(T, G)
        code = lambda p, r: int(self.codes[low + p, r])  # noqa: E731
        left = LEFT if m < h else 0
        distance = abs(h - m)
        bin_ = distance if distance <= 5 else 6 if distance <= 10 else 7
        grams = [code(h, t) + code(m, A + t) for t in range(T)]
        grams += [code(h, 2 * A + u) for u in range(U)] + [code(m, 2 * A + U + v) for v in range(V)]
        grams += [code(h, g) + code(m, A + g) + PATH * (int(self.paths[cell]) + 1) for g in range(G)]
        found = []
        for gram in grams:
            row = (gram + left) % WORD % self.rows
            found += [row * arcs.BINS, row * arcs.BINS + bin_]
        for b in range(B):
            at = 2 * A + U + V + b
            values = {code(p, at + B) for p in range(min(h, m) + 1, max(h, m))}
            outer = code(h, at) + code(m, at + 2 * B) + left
            found += [(outer + value) % WORD % (self.rows * arcs.BINS) for value in values]
        return found

    def arcs(self) -> Any:
        """cell, first position, head, modifier of every arc."""
        cell = 0
        for low, high in zip(self.ptr, self.ptr[1:], strict=False):
            n = int(high - low)
            for h in range(n):
                for m in range(n):
                    yield cell + h * n + m, int(low), h, m
            cell += n * n


@settings(max_examples=40, deadline=None)
@given(LENGTHS, SIZES, SEED)
def test_scores_are_sums_over_features(lengths: list[int], sizes: tuple[int, ...], seed: int) -> None:
    case = Case(lengths, sizes, seed)
    scores, flat = case.scores(), case.weights.reshape(-1)
    for cell, low, h, m in case.arcs():
        expected = 0.0 if m in (0, h) else flat[case.features(cell, low, h, m)].sum()
        assert scores[cell] == expected


@settings(max_examples=40, deadline=None)
@given(LENGTHS, SIZES, SEED, st.sampled_from([0.0, 0.5]))
def test_the_gradient_has_every_feature(
    lengths: list[int], sizes: tuple[int, ...], seed: int, threshold: float
) -> None:
    case = Case(lengths, sizes, seed)
    difference = (case.rng.integers(-8, 8, case.cells) / 8).astype(np.float32)
    gradient, expected = np.zeros((case.rows, arcs.BINS), np.float32), np.zeros(case.rows * arcs.BINS)
    arcs.add_arc_gradient(gradient, case.codes, case.sizes, case.ptr, case.paths, difference, threshold)
    for cell, low, h, m in case.arcs():
        if m not in (0, h) and abs(difference[cell]) > threshold:
            np.add.at(expected, case.features(cell, low, h, m), difference[cell])
    np.testing.assert_array_equal(gradient.reshape(-1), expected)


@settings(max_examples=25, deadline=None)
@given(LENGTHS, SIZES, SEED)
def test_touched_rows_are_those_of_the_gradient(lengths: list[int], sizes: tuple[int, ...], seed: int) -> None:
    case = Case(lengths, sizes, seed)
    seen = np.zeros(case.rows, np.int32)

    def written(difference: Any) -> tuple[list[int], list[int]]:
        gradient = np.zeros((case.rows, arcs.BINS), np.float32)
        rows = arcs.add_arc_gradient(
            gradient, case.codes, case.sizes, case.ptr, case.paths, difference.astype(np.float32), 0.0
        )
        return sorted({*rows.tolist()}), np.flatnonzero(gradient.any(axis=1)).tolist()

    some, expected = written(case.rng.uniform(0.1, 1, case.cells) * (case.rng.random(case.cells) < 0.3))
    assert some == expected
    every, _ = written(np.ones(case.cells))
    for stamp in (1, 2):
        rows = arcs.touched_rows(case.codes, case.sizes, case.ptr, case.paths, seen, stamp)
        assert sorted(rows.tolist()) == every


def test_all_rows_are_returned_however_many_there_are() -> None:
    """More features of arcs than the first array can hold."""
    case = Case([30], (2, 0, 0, 2, 1), 3, rows=1 << 12)
    case.codes[:] = case.rng.integers(0, WORD, case.codes.shape, np.uint64)
    gradient = np.zeros((case.rows, arcs.BINS), np.float32)
    everything = np.ones(case.cells, np.float32)
    rows = arcs.add_arc_gradient(gradient, case.codes, case.sizes, case.ptr, case.paths, everything, 0.0)
    assert len(rows) > 2 * len(case.codes) * 3
    assert sorted({*rows.tolist()}) == np.flatnonzero(gradient.any(axis=1)).tolist()


def test_side_codes_look_at_neighbours_and_at_the_edge() -> None:
    columns = np.array([[9], [1], [2], [9], [1]], np.uint64)
    ptr = np.array([0, 3, 5], np.int64)
    terms = np.array([[[0, 0], [-1, 0]], [[0, 0], [0, 1]], [[0, -1], [0, 0]]], np.int64)
    codes = np.zeros((5, 3), np.uint64)
    arcs.side_codes(columns, ptr, terms, np.array([7, 7, 7], np.uint64), codes)
    assert codes[1, 0] == codes[4, 0] != codes[2, 0]  # the same word, in two sentences
    assert codes[1, 1] != codes[4, 1]  # another word follows, or none
    assert codes[1, 2] == codes[4, 2]  # the root stands before both
    assert codes[0, 1] == codes[1, 2]  # the same pair, seen from either side
