"""Places inside words of letters and inside numbers, from the characters on either side of them.

With L a letter and D a digit, no word begins at the place marked `^`:

    L^L   L^'^L   L^-^L   L^-^D   D^D   D^.^D   D^%   D^,^DDD   D^:^DD

where exactly three and two digits follow the comma and the colon. `classes` tells which characters are taken for these.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel

LETTER, DIGIT, APOSTROPHE, HYPHEN, POINT, COMMA, COLON, PERCENT = (np.uint8(1 << bit) for bit in range(8))
_SIGN = APOSTROPHE  # what is less stands in runs by itself
_ALIKE = LETTER | DIGIT


@kernel
def _digits(points, classes, start):
    """How many digits stand there, four for more."""
    count = 0
    while count < 4 and start + count < points.shape[0] and classes[points[start + count]] == DIGIT:
        count += 1
    return count


@kernel
def _binds(points, classes, at, before):
    """Whether the sign at `at` stands inside a run."""
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
    return sign == POINT


@kernel
def join_runs(points, classes, joined):
    """Set joined[i], bool, where no word begins at points[i], uint32. classes: uint8[0x110000], 0 for most."""
    before = np.uint8(0)
    for at in range(points.shape[0]):
        here = classes[points[at]]
        if here:
            if before & here & _ALIKE:
                joined[at] = True
            elif here == PERCENT:
                joined[at] = before == DIGIT
            elif here >= _SIGN and _binds(points, classes, at, before):
                joined[at] = True
                joined[at + 1] = True
        before = here
