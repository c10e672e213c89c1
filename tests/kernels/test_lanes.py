"""Steps over four labels at once, against the same in NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from tagweave.kernels.raw_text import LANES, add_window, step

SCORES = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5, 1.0])
SEEDS = st.integers(0, 1 << 30)
_U = np.uintp


@njit
def _stepped(delta, score, transition, back, at):
    step(delta, score, transition, back, _U(at))


@njit
def _windowed(score, weights, rows, anchor, window):
    add_window(score, weights, rows, _U(anchor), window)


@given(st.lists(SCORES, min_size=24, max_size=24), st.integers(0, 3))
def test_a_step_is_max_product_and_the_first_of_equals_wins(values: list[float], at: int) -> None:
    delta, score, transition = np.split(np.array(values, np.float32), [4, 8])
    sums = delta[:, None] + transition.reshape(LANES, LANES)
    expected, back = score + sums.max(axis=0), np.full(16, 9, np.uint8)
    _stepped(delta, score, transition, back, LANES * at)
    np.testing.assert_array_equal(delta, expected)
    assert back[LANES * at : LANES * at + LANES].tolist() == sums.argmax(axis=0).tolist()
    assert (np.delete(back, range(LANES * at, LANES * at + LANES)) == 9).all()


@given(SEEDS, st.integers(1, 5), st.integers(4, 8))
def test_a_window_is_the_sum_of_the_cells_of_all_anchors(seed: int, window: int, anchor: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-5, 6, 100).astype(np.float32)
    rows = rng.integers(0, 100 - LANES * window, 9).astype(np.uint32)
    score = np.arange(LANES, dtype=np.float32)
    cells = [weights[rows[anchor - j] + LANES * j :][:LANES] for j in range(window)]
    expected = score + np.sum(cells, axis=0)
    _windowed(score, weights, rows, anchor, tuple(range(window)))
    np.testing.assert_array_equal(score, expected)
