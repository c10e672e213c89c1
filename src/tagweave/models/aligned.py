"""Weights aligned to cache lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LINE = 64  # bytes of a cache line


def aligned_zeros(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that start at a cache line."""
    length = size * np.dtype(dtype).itemsize
    buffer = np.zeros(length + _LINE, np.uint8)
    start = -buffer.ctypes.data % _LINE
    return buffer[start : start + length].view(dtype)


def is_aligned(weights: NDArray[Any]) -> bool:
    """Whether the weights start at a cache line."""
    return bool(weights.ctypes.data % _LINE == 0)
