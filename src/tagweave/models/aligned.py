"""Weights in memory that begin with a line of the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LINE = 64  # bytes of a line of the cache


def aligned_zeros(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Zeros, the first of which begins a line of the cache."""
    length = size * np.dtype(dtype).itemsize
    space = np.zeros(length + _LINE, np.uint8)
    start = -space.ctypes.data % _LINE
    return space[start : start + length].view(dtype)


def is_aligned(weights: NDArray[Any]) -> bool:
    """Whether the first weight begins a line of the cache."""
    return bool(weights.ctypes.data % _LINE == 0)
