"""How often features occurred in training, in a byte each: 0 if never, else 1 + 8 log2(n), rounded.

Numbers are true to 5 %. Powers of two are too coarse: of a feature that occurred 100 times, a tenth more would be lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEPS = 8  # of a binary logarithm
_COUNTS = np.array([0, *np.rint(np.exp2(np.arange(255) / _STEPS))], np.int64)


def in_bytes(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return counts as bytes; the largest is 3.6e9."""
    steps = np.rint(1 + _STEPS * np.log2(np.maximum(counts, 1)))
    return np.where(counts > 0, np.minimum(steps, 255), 0).astype(np.uint8)


def of_bytes(occurrences: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the counts that bytes tell, about."""
    return _COUNTS[occurrences]
