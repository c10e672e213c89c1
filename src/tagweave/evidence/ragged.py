"""Ragged arrays: rows of different lengths stored consecutively, row i from ptr[i] to ptr[i + 1] - 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pointers(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return int64[R + 1]: where R rows of these lengths begin, followed by the end of the last row."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def rows(ptr: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of the rows `order`, consecutively, and the pointers of these rows."""
    lengths = np.diff(ptr)[order]
    new = pointers(lengths)
    return np.arange(new[-1]) + np.repeat(ptr[order] - new[:-1], lengths), new
