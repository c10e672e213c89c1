"""Instructions that Numba lacks, or that take long to compile in its form, and vector code made of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import Constant
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import intrinsic

from tagweave.kernels import inlined

Call = tuple[Any, ...]
"""The input of the code generator of an intrinsic: context, builder, signature and arguments."""


def address(call: Call, array: int, index: Any, kind: Any = None) -> Any:
    """Return the address of array[index], the array being argument number `array` of an intrinsic.

    It is a pointer to `kind`, or to an element.
    """
    context, builder, signature, arguments = call
    view = context.make_array(signature.args[array])(context, builder, arguments[array])
    at = builder.gep(view.data, [index])
    return at if kind is None else builder.bitcast(at, kind.as_pointer())


def _run(call: Call, array: int, lanes: int) -> tuple[Any, int]:
    """Return the address of a vector that begins at the index that follows the array, and the size of its elements."""
    context, _, signature, arguments = call
    element = context.get_value_type(signature.args[array].dtype)
    return address(call, array, arguments[array + 1], ir.VectorType(element, lanes)), context.get_abi_sizeof(element)


@intrinsic
def prefetch(_context: Any, array: Any, index: Any) -> Any:
    """prefetch(array, index): start loading array[index] into the first cache.

    The weights of a rare gram are in main memory, some 100 ns away. Prefetching them a few grams ahead hides that, and
    halves the time of the emission kernels (measured on 0.75M characters: 54 to 30 ms).
    """

    def generate(*call: Any) -> Any:
        context, builder, _, arguments = call
        place, number = address(call, 0, arguments[1], ir.IntType(8)), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic(prefer_literal=True)
def add_lanes(_context: Any, target: Any, to: Any, source: Any, at: Any, lanes: Any) -> Any:
    """add_lanes(target, to, source, at, lanes): target[to + i] += source[at + i] for i < lanes, as vectors.

    `lanes` is a literal. The compiler vectorises long loops only, and the windows of grams are short.
    """

    def generate(*call: Any) -> Any:
        context, builder, _, _ = call
        (here, size), (there, _) = _run(call, 0, lanes.literal_value), _run(call, 2, lanes.literal_value)
        total = builder.fadd(*(builder.load(pointer, align=size) for pointer in (here, there)))
        builder.store(total, here, align=size)
        return context.get_dummy_value()

    return types.void(target, to, source, at, lanes), generate


LANES = 8
"""Numbers that `largest_sum` and `sums_at_least` look at together."""


@intrinsic
def largest_sum(_context: Any, one: Any, at: Any, other: Any, to: Any) -> Any:
    """largest_sum(one, at, other, to): the largest one[at + i] + other[to + i] for i < `LANES`.

    The compiler takes the maximum of floats one after the other, each waiting for the one before.
    """

    def generate(*call: Any) -> Any:
        builder, sums = call[1], _sums(call)
        for half in (4, 2, 1):
            indices = [i ^ half for i in range(LANES)]
            turned = builder.shuffle_vector(sums, sums, Constant(ir.VectorType(ir.IntType(32), LANES), indices))
            sums = builder.select(builder.fcmp_ordered(">", turned, sums), turned, sums)
        return builder.extract_element(sums, ir.IntType(32)(0))

    return one.dtype(one, at, other, to), generate


@intrinsic
def sums_at_least(_context: Any, one: Any, at: Any, other: Any, to: Any, least: Any) -> Any:
    """sums_at_least(one, at, other, to, least): bit i < `LANES` is set if the sum is finite, and at least `least`.

    It is one[at + i] + other[to + i].
    """

    def generate(*call: Any) -> Any:
        builder, sums = call[1], _sums(call)
        finite = builder.fcmp_ordered(">", sums, Constant(sums.type, [float("-inf")] * LANES))
        bits = builder.and_(finite, builder.fcmp_ordered(">=", sums, spread(builder, call[3][4], LANES)))
        return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(one, at, other, to, one.dtype), generate


def _sums(call: Call) -> Any:
    """Return the vector of one[at + i] + other[to + i], i < `LANES`."""
    return call[1].fadd(*(call[1].load(at, align=size) for at, size in (_run(call, k, LANES) for k in (0, 2))))


@intrinsic
def lowest_bit(_context: Any, bits: Any) -> Any:
    """lowest_bit(bits): the number of the lowest bit that is set in bits, not 0."""

    def generate(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


@intrinsic(prefer_literal=True)
def raise_lanes(_context: Any, target: Any, to: Any, number: Any, source: Any, at: Any, lanes: Any) -> Any:
    """raise_lanes(target, to, number, source, at, lanes): target[to + i] = max(target[to + i], number + source[at + i])
    for i < lanes, a literal, as vectors."""
    count = lanes.literal_value

    def generate(*call: Any) -> Any:
        context, builder, _, arguments = call
        (here, size), (there, _) = _run(call, 0, count), _run(call, 3, count)
        before, after = builder.load(here, align=size), builder.load(there, align=size)
        total = builder.fadd(spread(builder, arguments[2], count), after)
        # not `select`: that becomes a store under a mask, which a load right after it has to wait for
        name = f"llvm.maxnum.v{count}f{8 * size}"
        maximum = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(total.type, [total.type] * 2))
        builder.store(builder.call(maximum, [total, before], fastmath=("nnan",)), here, align=size)
        return context.get_dummy_value()

    return types.void(target, to, target.dtype, source, at, lanes), generate


def spread(builder: Any, number: Any, count: int) -> Any:
    """Return a vector of one number."""
    one = builder.insert_element(Constant(ir.VectorType(number.type, count), ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, Constant(ir.VectorType(ir.IntType(32), count), [0] * count))


@intrinsic
def flat(_context: Any, array: Any) -> Any:
    """flat(array): a flat view of a C-contiguous array, as `array.reshape(-1)`, which takes 0.25 s to compile."""
    if not isinstance(array, types.Array) or array.layout != "C":
        return None
    row = types.Array(array.dtype, 1, "C", readonly=not array.mutable)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        array_of_row = context.make_array(row)(context, builder)
        fields = {name: getattr(view, name) for name in ("data", "itemsize", "meminfo", "parent")}
        _populate(builder, array_of_row, view.nitems, fields)
        return impl_ret_borrowed(context, builder, row, array_of_row._getvalue())

    return row(array), generate


@intrinsic
def allocate(_context: Any, count: Any, dtype: Any) -> Any:
    """allocate(count, dtype): a new array, as `np.empty(count, dtype)`, which takes 0.2 s to compile."""
    if not isinstance(count, types.Integer):
        return None
    row = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        length = context.cast(builder, arguments[0], signature.args[0], types.intp)
        row_array = context.make_array(row)(context, builder)
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(row.dtype)))
        align = context.get_constant(types.uint32, context.get_preferred_array_alignment(row.dtype))
        memory = context.nrt.meminfo_alloc_aligned(builder, builder.mul(length, itemsize), align)
        data = builder.bitcast(context.nrt.meminfo_data(builder, memory), row_array.data.type)
        _populate(builder, row_array, length, {"data": data, "itemsize": itemsize, "meminfo": memory})
        return impl_ret_new_ref(context, builder, row, row_array._getvalue())

    return row(count, dtype), generate


def _populate(builder: Any, array: Any, length: Any, fields: dict[str, Any]) -> None:
    """Fill in the structure of a one-dimensional array; it has no parent unless the fields say so."""
    array.parent = Constant(array.parent.type, None)
    for name, value in fields.items():
        setattr(array, name, value)
    array.nitems = length
    array.shape = cgutils.pack_array(builder, [length])
    array.strides = cgutils.pack_array(builder, [fields["itemsize"]])


WORD = 64
"""Labels that `labels_at_least` looks at together."""

_U = np.uintp
_ONE = np.uintp(1)
_LANES, _WORD = np.uintp(LANES), np.uintp(WORD)


@inlined
def put(target, value):
    """target[:] = value, in a loop: an assignment to a slice takes 0.3 s to compile."""
    for i in range(_U(target.shape[0])):
        target[i] = value


@inlined
def add_run(target, to, source, at, count):
    """target[to + i] += source[at + i] for i < count."""
    i = _U(0)
    while i + _U(8) <= count:
        add_lanes(target, to + i, source, at + i, 8)
        i += _U(8)
    if i + _U(4) <= count:
        add_lanes(target, to + i, source, at + i, 4)
        i += _U(4)
    while i < count:
        target[to + i] += source[at + i]
        i += _ONE


@inlined
def raise_run(target, number, source, at):
    """target[j] = max(target[j], number + source[at + j])."""
    Y, j = _U(target.shape[0]), _U(0)
    while j + _U(8) <= Y:
        raise_lanes(target, j, number, source, at + j, 8)
        j += _U(8)
    if j + _U(4) <= Y:
        raise_lanes(target, j, number, source, at + j, 4)
        j += _U(4)
    while j < Y:
        target[j] = max(target[j], number + source[at + j])
        j += _ONE


@inlined
def largest(one, at, other, to, count):
    """Return the largest one[at + i] + other[to + i], i < count; both are flat."""
    top, i = one.dtype.type(-np.inf), _U(0)
    while i < count and count >= _LANES:
        first = min(i, count - _LANES)  # the last ones may be looked at twice
        top = max(top, largest_sum(one, at + first, other, to + first))
        i += _LANES
    while i < count:
        top = max(top, one[at + i] + other[to + i])
        i += _ONE
    return top


@inlined
def labels_at_least(one, at, other, to, low, count, least):
    """Bit i is set if one[at + low + i] + other[to + low + i] >= least and finite; low + i < count, i < `WORD`.

    Both are flat; `count` is at least `LANES`.
    """
    bits = np.uint64(0)
    i, high = low, min(low + _WORD, count)
    while i < high:
        first = min(i, count - _LANES)
        bits |= (sums_at_least(one, at + first, other, to + first, least) >> (i - first)) << (i - low)
        i += _LANES
    return bits


BYTES = 32
"""Bytes of a vector."""


@intrinsic(prefer_literal=True)
def multiply_tile(_context, left, at, across, along, right, start, width, out, to, size, count, rows, vectors, adds):
    """multiply_tile(left, at, across, along, right, start, width, out, to, size, count, rows, vectors, adds):

        out[to + r size + c] = sum over i < count of left[at + r across + i along] right[start + i width + c]

    of flat arrays, or += if it `adds`, for r < rows, and c in so many vectors, 0 for half a vector. The last three
    are literals; other numbers are unsigned and of 64 bits.
    """
    height, width_of = rows.literal_value, vectors.literal_value

    def generate(*call: Any) -> Any:
        context, builder, signature, arguments = call
        at, across, along, start, width, to, size, count = (arguments[k] for k in (1, 2, 3, 5, 6, 8, 9, 10))
        number, index = context.get_value_type(signature.args[0].dtype), at.type
        itemsize = context.get_abi_sizeof(number)
        lanes, count_of = BYTES // itemsize // (1 if width_of else 2), width_of or 1
        vector = ir.VectorType(number, lanes)
        name = f"llvm.fmuladd.v{lanes}f{8 * itemsize}"
        add_product = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)

        def cell(r: int, v: int) -> Any:
            place = builder.add(builder.add(to, builder.mul(size, index(r))), index(v * lanes))
            return address(call, 7, place, vector)

        positions = list(product(range(height), range(count_of)))
        sums = {position: cgutils.alloca_once(builder, vector) for position in positions}
        for position in positions:
            first = (
                builder.load(cell(*position), align=itemsize) if adds.literal_value else Constant(vector, [0.0] * lanes)
            )
            builder.store(first, sums[position])
        with cgutils.for_range_slice(builder, index(0), count, index(1), intp=index) as (i, _):
            here, there = builder.add(start, builder.mul(i, width)), builder.add(at, builder.mul(i, along))
            row = [
                builder.load(address(call, 4, builder.add(here, index(v * lanes)), vector), align=itemsize)
                for v in range(count_of)
            ]
            for r in range(height):
                place = builder.add(there, builder.mul(across, index(r)))
                factors = spread(builder, builder.load(address(call, 0, place), align=itemsize), lanes)
                for v in range(count_of):
                    total = builder.call(add_product, [factors, row[v], builder.load(sums[r, v])])
                    builder.store(total, sums[r, v])
        for position in positions:
            builder.store(builder.load(sums[position]), cell(*position), align=itemsize)
        return context.get_dummy_value()

    return types.void(left, at, across, along, right, start, width, out, to, size, count, rows, vectors, adds), generate
