"""The layout of a view's weights: which (feature, label) pairs have one, and at which index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import refuse
from tagweave.models.observed_pairs import CELL, observed_cells

_FEATURES = 1 << 16  # checked at a time


@dataclass(frozen=True)
class Layout:
    """The layout of the emission weights of a view of Y labels.

    Pointers are int32 and cells uint16, or wider if needed. The weights of feature g are weights[ptr[g] : ptr[g + 1]].
    Weight q belongs to position cell[q] // Y of the window of its feature and to label cell[q] % Y; an empty `cell`
    means that every feature has all window * Y weights, in order.
    """

    ptr: NDArray[Any]
    cell: NDArray[Any]

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.ptr[-1])

    @classmethod
    def dense(cls, windows: NDArray[np.int64], labels: int) -> Layout:
        """Every feature with every label."""
        return cls(_pointers(windows * labels), np.zeros(0, CELL))

    @classmethod
    def observed(cls, encoded: Encoded, windows: NDArray[np.int64], masks: NDArray[np.uint8]) -> Layout:
        """The pairs that the evidence of `encoded` observes: a token has the feature, and its label set the label.

        A set of all labels observes no pair.

        Args:
            encoded: training data.
            windows: int64[F], how many tokens see each feature.
            masks: uint8[sets, Y], the labels of the view that each label set allows.
        """
        counts, cell = observed_cells(encoded, masks, windows)
        return cls(_pointers(counts), cell)

    @classmethod
    def union(cls, layouts: Sequence[Layout]) -> Layout:
        """The pairs that any of several layouts of observed pairs of the same features has."""
        width = 1 + max((int(each.cell.max()) for each in layouts if len(each.cell)), default=0)
        features = len(layouts[0].ptr) - 1
        codes = np.zeros(0, np.int64)
        for each in layouts:
            of = np.repeat(np.arange(features, dtype=np.int64), np.diff(each.ptr))
            codes = np.union1d(codes, of * width + each.cell)
        counts = np.bincount(codes // width, minlength=features)
        return cls(_pointers(counts), (codes % width).astype(np.result_type(*(each.cell for each in layouts))))


def _pointers(counts: NDArray[np.int64]) -> NDArray[Any]:
    """0 and the running sums of counts, in the smallest type: kernels access them at random, so smaller is faster."""
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ends.astype(np.int32 if ends[-1] < np.iinfo(np.int32).max else np.int64)


def check_layout(layout: Layout, windows: NDArray[np.int64], tags: int) -> None:
    """Raise unless every weight has a cell, and every cell is inside the window of its feature.

    Args:
        layout: its pointers never fall.
        windows: int64[F], how many tokens see each feature.
        tags: the number of tags of the view.

    Raises:
        ValueError: a cell is missing, superfluous or out of range.
    """
    rows, dense_rows = np.diff(layout.ptr), windows * tags
    if not len(layout.cell):  # dense, or empty
        if rows.any() and not np.array_equal(rows, dense_rows):
            refuse("pointers", "layout", "all weights of the window of every feature")
    elif layout.size != len(layout.cell):
        refuse(len(layout.cell), "the cells of a layout", f"{layout.size}")
    for low in range(0, len(rows) if len(layout.cell) else 0, _FEATURES):
        part = slice(low, low + _FEATURES)
        cell = layout.cell[layout.ptr[low] : layout.ptr[min(low + _FEATURES, len(rows))]]
        if (cell >= np.repeat(dense_rows[part], rows[part])).any():
            refuse("cells", "layout", "cells in the window of their feature")
