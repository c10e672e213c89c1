"""Two instructions that compiled Python has no word for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(_context: Any, array: Any, index: Any) -> Any:
    """prefetch(array, index): start loading array[index] into the first cache.

    The weights of a rare gram are in main memory, some 100 ns away. Asking for them a few grams ahead hides that, and
    halves the time of the emission kernels (measured on 0.75M characters: 54 to 30 ms).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic(prefer_literal=True)
def add_lanes(_context: Any, target: Any, to: Any, source: Any, at: Any, lanes: Any) -> Any:
    """add_lanes(target, to, source, at, lanes): target[to + i] += source[at + i] for i < lanes, a literal, at once.

    The compiler makes such code of long loops only, and the windows of grams are short.
    """
    count = lanes.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = context.get_value_type(signature.args[0].dtype)
        pointers = []
        for array, index in ((0, 1), (2, 3)):
            view = context.make_array(signature.args[array])(context, builder, arguments[array])
            address = builder.gep(view.data, [arguments[index]])
            pointers.append(builder.bitcast(address, ir.VectorType(element, count).as_pointer()))
        size = context.get_abi_sizeof(element)
        total = builder.fadd(*(builder.load(pointer, align=size) for pointer in pointers))
        builder.store(total, pointers[0], align=size)
        return context.get_dummy_value()

    return types.void(target, to, source, at, lanes), generate
