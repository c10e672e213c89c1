"""The layout of a view's weights.

A layout says which (feature, label) pairs have a weight, and at which index: all pairs, or those that evidence
observes. One pass over encoded sentences collects pairs of features and label *sets*; if sets are large, these are far
fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import refuse
from tagweave.kernels import hashing

_FEATURES = 1 << 16  # checked at a time
CELL = np.uint16
"""The type of cells wherever it suffices. Kernels are compiled for each type, and bytes would save little."""
_CODES = 1 << 32  # more than there are cells


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
        return int(self.ptr[-1])

    @classmethod
    def dense(cls, windows: NDArray[np.int64], labels: int) -> Layout:
        return cls(_pointers(windows * labels), np.zeros(0, CELL))

    @classmethod
    def observed(cls, encoded: Encoded, windows: NDArray[np.int64], masks: NDArray[np.uint8]) -> Layout:
        """Return the pairs that evidence observes: a token has the feature, and its set, not of all labels, the label.

        `windows` is int64[F], how many tokens see each feature; `masks` uint8[sets, Y].
        """
        sets, labels = masks.shape
        positions = int(windows.max(initial=1))
        codes = _feature_sets(encoded, masks, positions * sets)
        dtype = np.result_type(CELL, np.min_scalar_type(positions * labels))
        counts, no_cells = np.zeros(len(windows), np.int64), np.zeros(0, dtype)
        hashing.expand(codes, positions, masks, counts, no_cells)
        cells = np.empty(int(counts.sum()), dtype)
        hashing.expand(codes, positions, masks, counts, cells)
        return cls(_pointers(counts), cells)

    @classmethod
    def of_codes(cls, codes: NDArray[np.int64], features: int) -> Layout:
        """Return the layout of so many features whose weights have these rising codes."""
        cells = codes % _CODES
        counts = np.bincount(codes // _CODES, minlength=features)
        return cls(_pointers(counts), cells.astype(np.result_type(CELL, np.min_scalar_type(cells.max(initial=0)))))

    def codes(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a code for every weight: the number that its feature is to have, and its cell."""
        of = np.repeat(np.arange(len(features)), np.diff(self.ptr))
        cells: NDArray[Any] = self.cell if len(self.cell) else np.arange(len(of)) - self.ptr[of]
        codes: NDArray[np.int64] = features[of] * _CODES + cells
        return codes


def _pointers(counts: NDArray[np.int64]) -> NDArray[Any]:
    """0 and the running sums of counts, in the smallest type: kernels access them at random, so smaller is faster."""
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ends.astype(np.int32 if ends[-1] < np.iinfo(np.int32).max else np.int64)


def check_layout(layout: Layout, windows: NDArray[np.int64], tags: int) -> None:
    """Refuse a layout unless every weight has a cell inside the window of its feature; pointers must not fall."""
    if len(layout.ptr) != len(windows) + 1:
        refuse(f"{len(layout.ptr) - 1} features", "layout", f"{len(windows)}, as the encoder has")
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


def _feature_sets(encoded: Encoded, masks: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """Return the rising codes feature * width + position * sets + set of all sets that occur with a feature."""
    e, is_evidence = encoded, ~masks.all(axis=1)
    table, progress = np.full(1 << 16, -1, np.int64), np.zeros(2, np.int64)  # entered so far; codes in the table

    def fill(enter: Callable[..., None], stop: int) -> None:
        """Call `enter` until it has entered `stop` items, with a larger table whenever the table is full."""
        nonlocal table
        progress[0] = 0
        while progress[0] < stop:
            enter(table, limit=np.array([len(table) // 2, width], np.int64))
            if progress[0] < stop:
                old, table = table, np.full(4 * len(table), -1, np.int64)
                hashing.rehash(old, table)

    if e.grams.shape[1]:
        anchors = e.grams, e.high, e.low, e.lead, e.sentence_ptr, e.evidence.sets, is_evidence
        fill(lambda table, limit: hashing.enter_grams(table, *anchors, limit, progress), len(e))
    # tokens of one word type under one label set observe the same pairs
    joint = np.unique(e.word_types.astype(np.int64) * len(masks) + e.evidence.sets)
    types = e.type_ptr, e.type_features, joint // len(masks), joint % len(masks), is_evidence
    fill(lambda table, limit: hashing.enter_types(table, *types, limit, progress), len(joint))
    return np.sort(table[table >= 0])
