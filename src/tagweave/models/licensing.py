"""The (feature, label) pairs that evidence licenses, found in one pass over encoded sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tagweave.encoding.encoded import Encoded
from tagweave.kernels import licensing


def licensed_pairs(encoded: Encoded, masks: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """The rising codes feature * width + position * Y + label of all licensed pairs.

    Args:
        encoded: sentences with evidence.
        masks: uint8[sets, Y], the labels of each set; set 0 licenses nothing.
        width: the cells of the widest feature.
    """
    listed = _listed(masks)
    pairs = _Pairs(width)
    if encoded.grams.shape[1]:
        pairs.fill(
            lambda table, limit, progress: licensing.enter_grams(
                table,
                encoded.grams,
                encoded.high,
                encoded.low,
                encoded.lead,
                encoded.sentence_ptr,
                encoded.allow,
                listed,
                limit,
                progress,
            ),
            len(encoded),
        )
    # tokens of one kind under one label set license the same pairs
    joint = np.unique(encoded.kinds.astype(np.int64) * len(masks) + encoded.allow)
    kinds, sets = joint // len(masks), joint % len(masks)
    pairs.fill(
        lambda table, limit, progress: licensing.enter_kinds(
            table, encoded.kind_ptr, encoded.kind_features, kinds, sets, listed, limit, progress
        ),
        len(kinds),
    )
    return pairs.sorted()


class _Pairs:
    """A hash set of codes that grows between calls of the kernel that fills it."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._table = np.full(1 << 16, -1, np.int64)
        self._count = 0

    def fill(self, enter: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], None], stop: int) -> None:
        """Call `enter` until its progress reaches `stop`, with a larger table each time that it gave up."""
        progress = np.array([0, self._count], np.int64)
        while progress[0] < stop:
            enter(self._table, np.array([len(self._table) // 2, self._width], np.int64), progress)
            if progress[0] < stop:
                self._grow()
        self._count = int(progress[1])

    def _grow(self) -> None:
        old = self._table
        self._table = np.full(4 * len(old), -1, np.int64)
        licensing.rehash(old, self._table)

    def sorted(self) -> NDArray[np.int64]:
        """The codes, rising."""
        return np.sort(self._table[self._table >= 0])


def _listed(masks: NDArray[np.uint8]) -> NDArray[np.int32]:
    """int32[sets, 1 + Y]: how many labels each set licenses, and which; set 0 none."""
    listed = np.zeros((masks.shape[0], 1 + masks.shape[1]), np.int32)
    for number in range(1, len(masks)):
        labels = np.flatnonzero(masks[number])
        listed[number, 0] = len(labels)
        listed[number, 1 : 1 + len(labels)] = labels
    return listed
