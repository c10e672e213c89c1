"""Products of matrices in tiles that stay in registers, four rows at a time.

BLAS copies its right operand at every call, so that it lies as its tiles go through it. A step of a recurrence
multiplies few rows with one and the same matrix, and the copy takes as long as multiplying thirty rows.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tagweave.kernels import inner
from tagweave.kernels.instructions import flat

BYTES = 32
"""Bytes of a vector."""

_ROWS = np.uintp(32)
_U = np.uintp


@intrinsic(prefer_literal=True)
def multiply_tile(
    _context: Any,
    left: Any,
    at: Any,
    right: Any,
    column: Any,
    out: Any,
    size: Any,
    low: Any,
    high: Any,
    rows: Any,
    vectors: Any,
) -> Any:
    """multiply_tile(left, at, right, column, out, size, low, high, rows, vectors): a tile of left @ right, all flat.

    Adds sum_i left[at + r size + i] right[i size + column + c], low <= i < high, to out[at + r size + column + c], or
    puts it there if low is 0, for r < rows, and c in so many vectors; both are literals. Indices are unsigned and of 64
    bits.
    """
    height, width = rows.literal_value, vectors.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = context.get_value_type(signature.args[0].dtype)
        itemsize = context.get_abi_sizeof(number)
        lanes = BYTES // itemsize
        vector = ir.VectorType(number, lanes)
        index, many = arguments[1].type, [ir.Constant(ir.IntType(32), 0)] * lanes
        name = f"llvm.fmuladd.v{lanes}f{8 * itemsize}"
        add_product = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)

        def address(array: int, at: Any, kind: Any) -> Any:
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(data, [at]), kind.as_pointer())

        first = [builder.add(arguments[1], builder.mul(arguments[5], index(r))) for r in range(height)]
        cells = list(product(range(height), range(width)))
        targets = {
            (r, v): address(4, builder.add(builder.add(first[r], arguments[3]), index(v * lanes)), vector)
            for r, v in cells
        }
        sums = {cell: cgutils.alloca_once(builder, vector) for cell in cells}
        is_first = builder.icmp_unsigned("==", arguments[6], index(0))
        for cell in cells:
            before = builder.load(targets[cell], align=itemsize)
            builder.store(builder.select(is_first, ir.Constant(vector, [0.0] * lanes), before), sums[cell])
        with cgutils.for_range_slice(builder, arguments[6], arguments[7], index(1), intp=index) as (i, _):
            start = builder.add(builder.mul(i, arguments[5]), arguments[3])
            row = [
                builder.load(address(2, builder.add(start, index(v * lanes)), vector), align=itemsize)
                for v in range(width)
            ]
            for r in range(height):
                value = builder.load(address(0, builder.add(first[r], i), number), align=itemsize)
                one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
                factor = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes), many))
                for v in range(width):
                    total = builder.call(add_product, [factor, row[v], builder.load(sums[r, v])])
                    builder.store(total, sums[r, v])
        for cell in cells:
            builder.store(builder.load(sums[cell]), targets[cell], align=itemsize)
        return context.get_dummy_value()

    return types.void(left, at, right, column, out, size, low, high, rows, vectors), generate


@inner
def multiply_tiles(left, right, out):
    """out = left @ right, float[B, Y] and float[Y, Y], for B divisible by 4, and Y of at least a vector."""
    rows, matrix, products = flat(left), flat(right), flat(out)
    B, size, lanes = _U(left.shape[0]), _U(right.shape[0]), _U(BYTES // out.itemsize)
    wide, j = _U(3) * lanes, _U(0)
    while j + wide <= size:
        low = _U(0)
        while low < size:  # so many rows of a tile's columns stay in the first cache, however far apart they are
            high = min(size, low + _ROWS)
            for b in range(_U(0), B, _U(4)):
                multiply_tile(rows, b * size, matrix, j, products, size, low, high, 4, 3)
            low = high
        j += wide
    while j < size:
        at = min(j, size - lanes)  # the last columns may be done twice
        for b in range(_U(0), B, _U(4)):
            multiply_tile(rows, b * size, matrix, at, products, size, _U(0), size, 4, 1)
        j += lanes
