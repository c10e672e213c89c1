"""Short rows of numbers as vectors: the compiler vectorises long loops only."""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inlined
from tagweave.kernels.instructions import LANES, add_lanes, largest_sum, raise_lanes, sums_at_least

WORD = 64
"""Labels that `labels_at_least` looks at together."""

_U = np.uintp
_ONE = np.uintp(1)
_LANES, _WORD = np.uintp(LANES), np.uintp(WORD)


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
    """The largest one[at + i] + other[to + i], i < count; both are flat."""
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
    found = np.uint64(0)
    i, high = low, min(low + _WORD, count)
    while i < high:
        first = min(i, count - _LANES)
        found |= (sums_at_least(one, at + first, other, to + first, least) >> (i - first)) << (i - low)
        i += _LANES
    return found
