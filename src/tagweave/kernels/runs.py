"""Positions inside words of letters and inside numbers, from the characters on either side of them.

With L a letter and D a digit, no word begins at the position marked `^`:

    L^L   L^'^L   L^-^L   L^-^D   D^D   D^.^D   D^%   D^,^DDD   D^:^DD

where exactly three and two digits follow the comma and the colon. `classes` gives the class of every character. At
`//`, `w.` or `@` there may be an address.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

LETTER, DIGIT = np.uint8(1), np.uint8(2)
_ALIKE = LETTER | DIGIT
_FIRST = np.uint8(4)  # signs are multiples of it: they have no bit in common with letters and digits
APOSTROPHE, HYPHEN, POINT, SLASH, DOT, COMMA, COLON, PERCENT, AT = (np.uint8(_FIRST * k) for k in range(1, 10))

_w, _W, _wide_w, _WIDE_W = (np.uint32(ord(letter)) for letter in "wWｗＷ")


@inner
def _digits(points, classes, start):
    """How many digits begin at `start`, at most four."""
    count = 0
    while count < 4 and start + count < points.shape[0] and classes[points[start + count]] == DIGIT:
        count += 1
    return count


@inner
def _binds(points, classes, at, before):
    """Whether the sign at `at` is inside a run."""
    sign = classes[points[at]]
    after = classes[points[at + 1]] if at + 1 < points.shape[0] else np.uint8(0)
    if before == LETTER:
        return (sign == HYPHEN and (after & _ALIKE) != 0) or (sign == APOSTROPHE and after == LETTER)
    if before != DIGIT or after != DIGIT:
        return False
    if sign == COMMA:
        return _digits(points, classes, at + 1) == 3
    if sign == COLON:
        return _digits(points, classes, at + 1) == 2
    return sign == POINT or sign == SLASH or sign == DOT  # noqa: PLR1714 - a set is slow here


@inner
def _is_trace(points, classes, at, before):
    """Whether the sign at `at` may be part of an address."""
    sign = classes[points[at]]
    if sign == DOT and at > 0:
        point = points[at - 1]
        return point == _W or point == _w or point == _WIDE_W or point == _wide_w  # noqa: PLR1714
    return sign == AT or (sign == SLASH and before == SLASH)


@kernel
def join_runs(points, classes, joined, traces):
    """Set joined[i], bool, where no word begins at points[i], uint32. classes: uint8[0x110000], 0 for most.

    Returns how many traces of addresses there are; their positions go to `traces`, int64.
    """
    before, found = np.uint8(0), 0
    for at in range(points.shape[0]):
        here = classes[points[at]]
        if here:
            if before & here & _ALIKE:
                joined[at] = True
            elif here == PERCENT:
                joined[at] = before == DIGIT
            elif here >= _FIRST:
                if _binds(points, classes, at, before):
                    joined[at] = True
                    joined[at + 1] = True
                if _is_trace(points, classes, at, before):
                    traces[found] = at
                    found += 1
        before = here
    return found
