"""The (feature, label) pairs that evidence observes, collected in one pass over encoded sentences.

The pass collects pairs of features and label *sets*; if sets are large, there are far fewer of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import observed_pairs

CELL = np.uint16
"""The type of cells wherever it suffices. Kernels are compiled for each type, and bytes would save little."""


def observed_cells(
    encoded: Encoded, masks: NDArray[np.uint8], windows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """int64[F], how many pairs each feature has, and the cells position * Y + label of all, rising within a feature.

    Args:
        encoded: sentences with evidence.
        masks: uint8[sets, Y], the labels of each set; a set of all labels observes no pair.
        windows: int64[F], how many tokens see each feature.
    """
    sets, labels = masks.shape
    positions = int(windows.max(initial=1))
    codes = _feature_sets(encoded, masks, positions * sets)
    dtype = np.result_type(CELL, np.min_scalar_type(positions * labels))
    counts, no_cells = np.zeros(len(windows), np.int64), np.zeros(0, dtype)
    observed_pairs.expand(codes, positions, masks, counts, no_cells)
    cells = np.empty(int(counts.sum()), dtype)
    observed_pairs.expand(codes, positions, masks, counts, cells)
    return counts, cells


def _feature_sets(encoded: Encoded, masks: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """The rising codes feature * width + position * sets + set of all sets that occur with a feature."""
    is_evidence = ~masks.all(axis=1)
    pairs = _Pairs(width)
    if encoded.grams.shape[1]:
        pairs.fill(
            lambda table, limit, progress: observed_pairs.enter_grams(
                table,
                encoded.grams,
                encoded.high,
                encoded.low,
                encoded.lead,
                encoded.sentence_ptr,
                encoded.allow,
                is_evidence,
                limit,
                progress,
            ),
            len(encoded),
        )
    # tokens of one word type under one label set observe the same pairs
    joint = np.unique(encoded.word_types.astype(np.int64) * len(masks) + encoded.allow)
    word_types, sets = joint // len(masks), joint % len(masks)
    pairs.fill(
        lambda table, limit, progress: observed_pairs.enter_types(
            table, encoded.type_ptr, encoded.type_features, word_types, sets, is_evidence, limit, progress
        ),
        len(word_types),
    )
    return pairs.sorted()


class _Pairs:
    """A hash set of codes that grows between calls of the kernel that fills it."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._table = np.full(1 << 16, -1, np.int64)
        self._count = 0

    def fill(self, enter: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], None], stop: int) -> None:
        """Call `enter` until its progress reaches `stop`, with a larger table whenever the table is full."""
        progress = np.array([0, self._count], np.int64)
        while progress[0] < stop:
            enter(self._table, np.array([len(self._table) // 2, self._width], np.int64), progress)
            if progress[0] < stop:
                self._grow()
        self._count = int(progress[1])

    def _grow(self) -> None:
        old = self._table
        self._table = np.full(4 * len(old), -1, np.int64)
        observed_pairs.rehash(old, self._table)

    def sorted(self) -> NDArray[np.int64]:
        """The codes, rising."""
        return np.sort(self._table[self._table >= 0])
