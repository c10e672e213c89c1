"""Products of matrices in tiles of registers.

A step of a recurrence over chains multiplies few rows with one and the same matrix [Y, Y]:

    out[b, j] = sum_i left[b, i] matrix[i, j]

Its columns lie in panels as wide as three vectors, row by row, so that a tile of four rows, whose sums stay in
registers, reads a panel from one end to the other. That is 1.2 to 10 times as fast as BLAS, which copies the matrix at
every product (4 to 1,408 labels, 1 to 256 rows). Where columns do not fill the last panel, it begins earlier, and they
are computed twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inlined, kernel
from tagweave.kernels.instructions import BYTES, allocate, flat, multiply_tile, put

Floats = NDArray[Any]

_BLOCK = 64  # rows whose products are added up in registers: two blocks fit the first cache at 44 labels
_U = np.uintp
_ONE, _FOUR = np.uintp(1), np.uintp(4)


@inlined
def _panel_width(Y, rest, itemsize):
    """Return the width of a panel of the last `rest` of Y columns."""
    long = _U(BYTES) // _U(itemsize)
    short = long // _U(2)
    if rest > long and _U(3) * long <= Y:
        return _U(3) * long
    if long <= Y:
        return long
    return short if short <= Y else Y


def panels(matrix: Floats, transposed: bool = False) -> Floats:
    """Return the panels of float[Y, Y], or of its transpose, float[cells]."""
    Y = np.uintp(len(matrix))
    laid_out = np.empty(len(matrix) * (len(matrix) + 3 * BYTES // matrix.itemsize), matrix.dtype)
    _lay_out(np.ascontiguousarray(matrix).reshape(-1), Y, *((Y, _ONE) if transposed else (_ONE, Y)), laid_out)
    return laid_out


@kernel
def _lay_out(matrix, Y, across, along, panels):
    """Fill the panels of matrix[i, j] = matrix[i along + j across]."""
    at, j = _U(0), _U(0)
    while j < Y:
        width = _panel_width(Y, Y - j, matrix.itemsize)
        first = min(j, Y - width)
        for i in range(Y):
            for c in range(width):
                panels[at + c] = matrix[i * along + (first + c) * across]
            at += width
        j += width


@kernel
def multiply(left, panels, out):
    """out = left @ matrix, for float[B, Y] and the panels of float[Y, Y].

    The loops over rows are spelled out: an iteration of L-BFGS takes a tenth longer with a function for them.
    """
    rows, products = flat(left), flat(out)
    B, Y, long = _U(left.shape[0]), _U(left.shape[1]), _U(BYTES) // _U(out.itemsize)
    tiled, at, j = B if B >= _FOUR else _U(0), _U(0), _U(0)  # tiles of four rows; the last may begin earlier, too
    while j < Y:
        width = _panel_width(Y, Y - j, out.itemsize)
        to = min(j, Y - width)
        if width > long:
            for row in range(_U(0), tiled, _FOUR):
                b = min(row, tiled - _FOUR) * Y
                multiply_tile(rows, b, Y, _ONE, panels, at, width, products, b + to, Y, Y, 4, 3, 0)
            for row in range(tiled, B):
                multiply_tile(rows, row * Y, Y, _ONE, panels, at, width, products, row * Y + to, Y, Y, 1, 3, 0)
        elif width == long:
            for row in range(_U(0), tiled, _FOUR):
                b = min(row, tiled - _FOUR) * Y
                multiply_tile(rows, b, Y, _ONE, panels, at, width, products, b + to, Y, Y, 4, 1, 0)
            for row in range(tiled, B):
                multiply_tile(rows, row * Y, Y, _ONE, panels, at, width, products, row * Y + to, Y, Y, 1, 1, 0)
        elif width * _U(2) == long:
            for row in range(_U(0), tiled, _FOUR):
                b = min(row, tiled - _FOUR) * Y
                multiply_tile(rows, b, Y, _ONE, panels, at, width, products, b + to, Y, Y, 4, 0, 0)
            for row in range(tiled, B):
                multiply_tile(rows, row * Y, Y, _ONE, panels, at, width, products, row * Y + to, Y, Y, 1, 0, 0)
        else:
            for b in range(B):
                for c in range(Y):
                    total = out.dtype.type(0)
                    for i in range(Y):
                        total += left[b, i] * panels[i * Y + c]
                    out[b, c] = total
        at += Y * width
        j += width


@kernel
def add_row_products(alpha, beyond, steps, sign, pairs):
    """pairs += sign * sum over rows r from the second step on of alpha[the row before r] (x) beyond[r], for Y >= 4.

    Blocks of rows are copied into panels, with zeros beyond the last label, since a tile adds to what it finds.
    """
    Y, itemsize = _U(pairs.shape[0]), _U(pairs.itemsize)
    long, block, high = _U(BYTES) // itemsize, _U(_BLOCK), (Y + _U(3)) // _FOUR * _FOUR
    columns, j = _U(0), _U(0)
    while j < Y:
        width = _panel_width(Y, Y - j, itemsize)
        columns, j = columns + width, j + width
    before, after = allocate(block * high, pairs.dtype), allocate(block * columns, pairs.dtype)
    sums = allocate(high * columns, pairs.dtype)
    put(before, 0)
    put(after, 0)
    put(sums, 0)
    filled = _U(0)
    for t in range(1, steps.shape[0] - 1):
        back = _U(steps[t] - steps[t - 1])
        for r in range(_U(steps[t]), _U(steps[t + 1])):
            for i in range(Y):
                before[filled * high + i] = alpha[r - back, i]
            at, j = _U(0), _U(0)
            while j < Y:
                width = _panel_width(Y, Y - j, itemsize)
                for c in range(min(width, Y - j)):
                    after[at + filled * width + c] = beyond[r, j + c]
                at, j = at + block * width, j + width
            filled += _ONE
            if filled == block or (r + _ONE == _U(steps[-1])):
                _add_block(before, after, sums, filled, Y, high, columns, long)
                filled = _U(0)
    factor = pairs.dtype.type(sign)
    for i in range(Y):
        for c in range(Y):
            pairs[i, c] += factor * sums[i * columns + c]


@inlined
def _add_block(before, after, sums, count, Y, high, columns, long):
    """Add the products of `count` rows."""
    block, at, j = _U(_BLOCK), _U(0), _U(0)
    while j < Y:
        width = _panel_width(Y, Y - j, _U(BYTES) // long)
        for i in range(_U(0), high, _FOUR):
            to = i * columns + j
            if width > long:
                multiply_tile(before, i, _ONE, high, after, at, width, sums, to, columns, count, 4, 3, 1)
            elif width == long:
                multiply_tile(before, i, _ONE, high, after, at, width, sums, to, columns, count, 4, 1, 1)
            else:
                multiply_tile(before, i, _ONE, high, after, at, width, sums, to, columns, count, 4, 0, 1)
        at, j = at + block * width, j + width
