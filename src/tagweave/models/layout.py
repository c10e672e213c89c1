"""The weights of a view: which (feature, label) pairs have one, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagweave.encoding.encoded import Encoded
from tagweave.models.licensing import licensed_pairs


@dataclass(frozen=True)
class Layout:
    """Where the emission weights of a view of Y labels stand.

    The weights of feature g are weights[ptr[g] : ptr[g + 1]]. Weight q belongs to position cell[q] // Y of the window of
    its feature and label cell[q] % Y; an empty `cell` means that every feature has all window * Y weights, in order.
    """

    ptr: NDArray[np.int64]
    cell: NDArray[np.int32]

    @property
    def size(self) -> int:
        """The number of weights."""
        return int(self.ptr[-1])

    @classmethod
    def dense(cls, windows: NDArray[np.int64], labels: int) -> Layout:
        """Every feature with every label."""
        return cls(np.concatenate([[0], np.cumsum(windows * labels)]).astype(np.int64), np.zeros(0, np.int32))

    @classmethod
    def licensed(cls, encoded: Encoded, windows: NDArray[np.int64], masks: NDArray[np.uint8]) -> Layout:
        """The pairs that the evidence of `encoded` licenses: a token has the feature, and its label set the label.

        The set of all labels licenses nothing, since it says nothing.

        Args:
            encoded: training data.
            windows: int64[F], how many tokens see each feature.
            masks: uint8[sets, Y], the labels of the view that each label set allows.
        """
        labels = masks.shape[1]
        width = int(windows.max(initial=1)) * labels
        codes = licensed_pairs(encoded, masks, width)
        counts = np.bincount(codes // width, minlength=len(windows))
        return cls(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), (codes % width).astype(np.int32))
