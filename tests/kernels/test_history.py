"""The history of L-BFGS: new pairs, products and combinations, in one range of columns or several."""

import itertools

import numpy as np
import pytest

from tagweave.kernels import weight_vectors as kernels

SIZE, SLOTS = 5000, 3  # longer than a block


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bounds", [[0, SIZE], [0, 1, 2048, SIZE]])
def test_a_pair_enters_with_its_products(bounds: list[int], dtype: type) -> None:
    rng = np.random.default_rng(0)
    history = rng.normal(size=(2 * SLOTS, SIZE)).astype(np.float32)
    weights, new, gradient, new_gradient, slope = rng.normal(size=(5, SIZE)).astype(dtype)
    expected = history.copy()
    expected[1], expected[SLOTS + 1] = new - weights, new_gradient - gradient
    sums = np.zeros((2 * SLOTS, 3))
    for low, high in itertools.pairwise(bounds):
        kernels.enter(history, 1, weights, new, gradient, new_gradient, slope, low, high, sums)
    np.testing.assert_allclose(history, expected, rtol=1e-6)
    exact = expected.astype(np.float64) @ np.stack([expected[1], expected[SLOTS + 1], slope], 1).astype(np.float64)
    np.testing.assert_allclose(sums, exact, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("bounds", [[0, SIZE], [0, 1, 2048, SIZE]])
def test_rows_combine_into_a_direction(bounds: list[int]) -> None:
    rng = np.random.default_rng(1)
    history = rng.normal(size=(2 * SLOTS, SIZE)).astype(np.float32)
    slope, shares = rng.normal(size=SIZE).astype(np.float32), rng.normal(size=2 * SLOTS).astype(np.float32)
    shares[2] = 0
    direction = np.full(SIZE, np.nan, np.float32)
    for low, high in itertools.pairwise(bounds):
        kernels.combine(history, shares, np.float32(0.5), slope, low, high, direction)
    np.testing.assert_allclose(direction, -(0.5 * slope + shares @ history), rtol=1e-4, atol=1e-5)
