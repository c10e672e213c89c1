"""Four labels at once: steps over vectors of four float32, which Numba cannot express."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 4

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_NUMBERS = ir.VectorType(ir.IntType(32), LANES)
_BYTES = ir.VectorType(ir.IntType(8), LANES)


class _Arrays:
    """Addresses and values inside the arrays among the arguments of an intrinsic."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self._context, self._builder = context, builder
        self._types, self._arguments = signature.args, arguments

    def address(self, array: int, index: Any, kind: Any) -> Any:
        view = self._context.make_array(self._types[array])(self._context, self._builder, self._arguments[array])
        return self._builder.bitcast(self._builder.gep(view.data, [index]), kind.as_pointer())

    def floats(self, array: int, index: Any) -> Any:
        return self._builder.load(self.address(array, index, _FLOATS), align=4)


@intrinsic
def add_window(_context: Any, score: Any, weights: Any, rows: Any, anchor: Any, window: Any) -> Any:
    """add_window(score, weights, rows, anchor, window): the scores of a token from the anchors in its window.

    score[:4] += sum over j < window of weights[rows[anchor - j] + 4 j :][:4], all indices unsigned and of 64 bits.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays, index = _Arrays(context, builder, signature, arguments), arguments[3].type
        target = arrays.address(0, index(0), _FLOATS)
        total = cgutils.alloca_once_value(builder, builder.load(target, align=4))
        row_type = context.get_value_type(signature.args[2].dtype)
        with cgutils.for_range(builder, arguments[4], intp=index) as loop:
            at = arrays.address(2, builder.sub(arguments[3], loop.index), row_type)
            row = builder.zext(builder.load(at), index)
            cell = builder.add(row, builder.mul(loop.index, index(LANES)))
            builder.store(builder.fadd(builder.load(total), arrays.floats(1, cell)), total)
        builder.store(builder.load(total), target, align=4)
        return context.get_dummy_value()

    return types.void(score, weights, rows, anchor, window), generate


@intrinsic
def step(_context: Any, delta: Any, score: Any, transition: Any, back: Any, at: Any) -> Any:
    """step(delta, score, transition, back, at): one step of the max-product recurrence, in place.

    delta[j] = score[j] + max_i (delta[i] + transition[4 i + j]), and back[at + j] = the first such i, a byte.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays, index = _Arrays(context, builder, signature, arguments), arguments[4].type
        before, none = arrays.floats(0, index(0)), ir.Constant(_FLOATS, ir.Undefined)
        pairs = []
        for i in range(LANES):
            alike = builder.shuffle_vector(before, none, ir.Constant(_NUMBERS, [i] * LANES))
            reached = builder.fadd(alike, arrays.floats(2, index(LANES * i)))
            pairs.append((reached, ir.Constant(_NUMBERS, [i] * LANES)))
        while len(pairs) > 1:  # pairwise comparison of neighbours; the first of equal ones wins
            pairs = [_larger(builder, *pairs[i], *pairs[i + 1]) for i in range(0, len(pairs), 2)]
        best, label = pairs[0]
        builder.store(builder.fadd(best, arrays.floats(1, index(0))), arrays.address(0, index(0), _FLOATS), align=4)
        builder.store(builder.trunc(label, _BYTES), arrays.address(3, arguments[4], _BYTES), align=1)
        return context.get_dummy_value()

    return types.void(delta, score, transition, back, at), generate


def _larger(builder: Any, first: Any, label: Any, second: Any, other: Any) -> tuple[Any, Any]:
    is_larger = builder.fcmp_ordered(">", second, first)
    return builder.select(is_larger, second, first), builder.select(is_larger, other, label)
