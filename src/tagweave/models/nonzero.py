"""Weights on disk without those that are 0: tables of hashed features are never full.

NAME           the weights that are not 0, in order
NAME.nonzero   uint8, of every eight weights in order, which are not 0 (the first is the highest bit)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tagweave.models.description import Arrays

_MASK = ".nonzero"
_LINE = 64  # bytes of a line of the cache


def without_zeros(name: str, weights: NDArray[Any]) -> Arrays:
    """The arrays that weights become on disk."""
    flat = weights.reshape(-1)
    mask = flat != 0
    return {name: flat[mask], f"{name}{_MASK}": np.packbits(mask)}


def with_zeros(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """The weights again, in memory that begins with a line of the cache.

    Raises:
        ValueError: a mask that does not fit the shape, or the weights.
        KeyError: no such weights, or no mask of them.
    """
    values, mask, size = arrays[name], arrays[f"{name}{_MASK}"], math.prod(shape)
    if mask.dtype != np.uint8 or mask.shape != (-(-size // 8),) or values.ndim != 1:
        raise ValueError(f"a mask {mask.dtype}{list(mask.shape)} of {size} weights")
    is_there = np.unpackbits(mask, count=size).view(bool)
    if int(is_there.sum()) != len(values):
        raise ValueError(f"{len(values)} weights, of which a mask has {int(is_there.sum())}")
    weights = aligned_zeros(size, values.dtype)
    weights[is_there] = values
    return weights.reshape(shape)


def aligned_zeros(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Zeros, the first of which begins a line of the cache."""
    length = size * np.dtype(dtype).itemsize
    space = np.zeros(length + _LINE, np.uint8)
    start = -space.ctypes.data % _LINE
    return space[start : start + length].view(dtype)


def is_aligned(weights: NDArray[Any]) -> bool:
    """Whether the first weight begins a line of the cache."""
    return bool(weights.ctypes.data % _LINE == 0)
