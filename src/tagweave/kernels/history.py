"""The history of L-BFGS: the last steps s = w' - w and gradient changes y = g' - g, as rows of one array.

It is by far the largest array of an iteration, so it is read only twice: once for the products of a new pair and of the
new slope with all rows, once to combine the rows into a direction. Both go through all rows block by block, so that the
vectors they share stay in the first-level cache, and take a range of columns, so that threads can share the work.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tagweave.kernels import kernel

_U = np.uintp
_BLOCK = 2048  # columns


@partial(kernel, reassociate=True)
def enter(history, slot, weights, new_weights, gradient, new_gradient, slope, first, last, products):
    """Set rows `slot` and `rows / 2 + slot` to s and y, and add the products of every row with s, y and slope to
    products float64[rows, 3]; for columns first .. last - 1."""
    s, y = history[slot], history[history.shape[0] // 2 + slot]
    for low in range(first, last, _BLOCK):
        high = min(low + _BLOCK, last)
        for i in range(_U(low), _U(high)):
            s[i] = new_weights[i] - weights[i]
            y[i] = new_gradient[i] - gradient[i]
        for r in range(history.shape[0]):
            row = history[r]
            with_s = with_y = with_slope = np.float32(0)
            for i in range(_U(low), _U(high)):
                with_s += row[i] * s[i]
                with_y += row[i] * y[i]
                with_slope += row[i] * np.float32(slope[i])
            products[r, 0] += with_s
            products[r, 1] += with_y
            products[r, 2] += with_slope


@kernel
def combine(history, coefficients, gamma, slope, first, last, direction):
    """direction = -(gamma slope + coefficients @ history), in columns first .. last - 1."""
    for low in range(first, last, _BLOCK):
        high = min(low + _BLOCK, last)
        for i in range(_U(low), _U(high)):
            direction[i] = -gamma * slope[i]
        for r in range(history.shape[0]):
            row, share = history[r], coefficients[r]
            if share != 0:
                for i in range(_U(low), _U(high)):
                    direction[i] -= share * row[i]
