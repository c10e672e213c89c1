"""Sparse weight updates against their definitions on whole vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.kernels import mistakes, weight_vectors

SIZE = 40
STARTS = np.array([3, 10, 3, 39, 20, 20], np.int64)  # blocks repeat, and one is empty
STOPS = np.array([7, 15, 7, 40, 20, 22], np.int64)
TOUCHED = np.zeros(SIZE, bool)
for _start, _stop in zip(STARTS, STOPS, strict=True):
    TOUCHED[_start:_stop] = True


def vectors(dtype: type, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and a gradient that is 0 where no block is, and at some places where one is."""
    rng = np.random.default_rng(seed)
    gradient = np.where(TOUCHED & (rng.random(SIZE) < 0.8), rng.normal(size=SIZE), 0)
    return rng.normal(size=SIZE).astype(dtype), gradient.astype(dtype)


DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@DTYPES
def test_adagrad(dtype: type) -> None:
    weights, gradient = vectors(dtype)
    g, squares = gradient.copy(), np.full(SIZE, 0.25, dtype)
    expected = weights - 0.1 * g / np.sqrt(squares + g**2)
    expected_squares = squares + g**2
    weight_vectors.adagrad(weights, squares, gradient, STARTS, STOPS, dtype(0.1))
    np.testing.assert_allclose(weights, expected, rtol=1e-6)
    np.testing.assert_allclose(squares, expected_squares, rtol=1e-6)
    assert not gradient.any()


@DTYPES
def test_descend(dtype: type) -> None:
    weights, gradient = vectors(dtype)
    expected = weights - dtype(0.3) * gradient
    weight_vectors.descend(weights, gradient, STARTS, STOPS, 0.3)
    np.testing.assert_allclose(weights, expected, rtol=1e-6)
    assert not gradient.any()


@DTYPES
def test_decay_catches_up_with_the_steps_that_a_weight_missed(dtype: type) -> None:
    weights, _ = vectors(dtype)
    log_decay = np.cumsum(np.log([1.0, 0.9, 0.8, 0.95]))
    seen = np.random.default_rng(1).integers(0, 4, SIZE).astype(np.int32)
    factor = np.where(TOUCHED, np.exp(log_decay[3] - log_decay[seen]), 1)
    expected, expected_seen = weights * factor, np.where(TOUCHED, 3, seen)
    weight_vectors.decay(weights, seen, log_decay, 3, STARTS, STOPS)
    np.testing.assert_allclose(weights, expected, rtol=1e-6)
    assert seen.tolist() == expected_seen.tolist()


@DTYPES
def test_take_moves_what_is_not_0_once(dtype: type) -> None:
    _, gradient = vectors(dtype)
    expected, at, by = gradient.copy(), np.empty(2 * SIZE, np.int64), np.empty(2 * SIZE)
    count = mistakes.take(gradient, np.tile(STARTS, 2), np.tile(STOPS, 2), mistakes.Moves(at, by))
    assert not gradient.any()
    gradient[at[:count]] = by[:count]
    np.testing.assert_array_equal(gradient, expected)
    assert len(set(at[:count].tolist())) == count


def test_rprop_moves_by_rates_of_its_own() -> None:
    weights, previous = np.zeros(5), np.array([1.0, -1.0, 1.0, 0.0, 1.0])
    gradient, rates = np.array([2.0, 0.5, 0.0, -1.0, 1.0]), np.full(5, 0.5)
    weight_vectors.rprop(weights, gradient, previous, rates, 0, 4, 1.2, 0.5, 0.55, 0.3)
    # the same sign: faster, up to the largest rate; a turn: slower, down to the smallest; nothing before: as it was
    assert rates.tolist() == [0.55, 0.3, 0.5, 0.5, 0.5]
    assert weights.tolist() == [-0.55, -0.3, 0.0, 0.5, 0.0]
    assert previous.tolist() == [2.0, 0.5, 0.0, -1.0, 1.0]
