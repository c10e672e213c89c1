"""The feature index: from gram codes to consecutive feature ids. It grows while training data is read, then freezes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import hashing

_CHUNK = 1 << 18  # codes between checks of the table's size
_FARTHEST = 512  # longest probe accepted in a table at most half full; with 10 million codes the longest is 90


class FeatureIndex:
    """An open-addressing table from gram codes (40 bits each) to ids in order of first occurrence.

    This order keeps the weights of grams that occur together close in memory.
    """

    def __init__(self) -> None:
        self.frozen = False
        self._keys = np.zeros(1 << 12, np.uint64)
        self._values = np.zeros(1 << 12, np.int32)
        self._size = 0
        self._codes: NDArray[np.uint64] | None = None  # of a frozen index
        self.counts = np.zeros(1 << 11, np.int64)

    def __len__(self) -> int:
        return self._size

    @classmethod
    def of_codes(cls, codes: NDArray[np.uint64]) -> FeatureIndex:
        """The frozen index in which codes[i] has id i.

        Raises:
            ValueError: invalid codes: 0, a repeat, or so many that collide that lookup would be slow.
        """
        index = cls()
        if (placed := index._build(codes, _FARTHEST)) < len(codes):
            raise ValueError(f"feature {placed} has a code that is 0, that of another one, or like too many others")
        index._freeze(codes)
        return index

    def ids(self, codes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The ids of codes, of any shape; -1 for code 0 and, once frozen, for codes not in the index.

        A growing index gives new codes new ids in order.
        """
        flat = np.ascontiguousarray(codes).reshape(-1)
        out = np.empty(len(flat), np.int32)
        for low in range(0, len(flat), _CHUNK):
            part = slice(low, low + _CHUNK)
            if self.frozen:
                hashing.find(self._keys, self._values, flat[part], out[part])
            else:
                self._reserve(self._size + len(flat[part]))
                self._size = hashing.insert(self._keys, self._values, flat[part], self._size, out[part], self.counts)
        return out.reshape(codes.shape)

    def count(self, ids: NDArray[np.int32], times: NDArray[np.int64]) -> None:
        """Count further occurrences of features that `ids` counted once for several tokens."""
        np.add.at(self.counts, ids, times)

    def add(self, codes: NDArray[np.uint64], times: NDArray[np.int64]) -> None:
        """Add the codes of another index, in their order, each of which it has counted so many times."""
        self.count(self.ids(codes), times - 1)

    def codes(self) -> NDArray[np.uint64]:
        """The code of every id, as stored with a model."""
        if self._codes is not None:
            return self._codes
        codes = np.zeros(self._size, np.uint64)
        filled = self._keys != 0
        codes[self._values[filled]] = self._keys[filled]
        return codes

    def freeze(self, minimum_count: int = 1) -> NDArray[np.int32]:
        """Stop growing; drop features that occurred less often. Returns the new id of every old one, -1 if dropped."""
        codes = self.codes()
        kept = self.counts[: self._size] >= minimum_count
        new = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        self._build(codes[kept])
        self._freeze(codes[kept])
        return new

    def _freeze(self, codes: NDArray[np.uint64]) -> None:
        self._codes, self._size = codes, len(codes)
        self.counts = np.zeros(0, np.int64)
        self.frozen = True

    def _reserve(self, size: int) -> None:
        if 2 * size <= len(self._keys):
            return
        # at most half full after one more chunk of new codes
        self._build(self.codes(), size=size)
        counts = np.zeros(len(self._keys) // 2, np.int64)
        counts[: len(self.counts)] = self.counts[: len(counts)]
        self.counts = counts

    def _build(self, codes: NDArray[np.uint64], farthest: int | None = None, size: int | None = None) -> int:
        """Build a new table with capacity for `size` codes (default: those given). Returns how many were placed: all,
        unless one needed a probe longer than `farthest`."""
        slots = 1 << max(12, (2 * (len(codes) if size is None else size) - 1).bit_length())
        self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        ids = np.arange(len(codes), dtype=np.int32)
        return int(hashing.place(self._keys, self._values, codes, ids, farthest or slots))
