"""The feature index: gram codes to consecutive feature ids. It grows while training data is read, then freezes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import hashing

_CHUNK = 1 << 18  # codes between two looks at whether the table is large enough
_FARTHEST = 512  # slots from its own that a hash ever stands in a table at most half full: of 10 million, 90


class FeatureIndex:
    """An open-addressing table from gram codes, of which it keeps 40 bits, to ids in order of first occurrence.

    Ids in that order keep the weights of grams that occur together close together in memory.
    """

    def __init__(self) -> None:
        self.frozen = False
        self._keys = np.zeros(1 << 12, np.uint64)
        self._values = np.zeros(1 << 12, np.int32)
        self._size = 0
        self._codes: NDArray[np.uint64] | None = None  # those of a frozen index
        self.counts = np.zeros(1 << 11, np.int64)

    def __len__(self) -> int:
        return self._size

    @classmethod
    def of_codes(cls, codes: NDArray[np.uint64]) -> FeatureIndex:
        """The frozen index in which codes[i] has id i.

        Raises:
            ValueError: codes that no features have: 0, two of a kind, or so many alike that looking one up takes long.
        """
        index = cls()
        if (placed := index._build(codes, _FARTHEST)) < len(codes):
            raise ValueError(f"feature {placed} has a code that is 0, that of another one, or like too many others")
        index._freeze(codes)
        return index

    def ids(self, codes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The ids of codes, of any shape; -1 for code 0 and, once frozen, for codes that are not in the index.

        An index that still grows gives new codes new ids, in the order in which they come.
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
        """Note further occurrences of features that `ids` has counted once for several tokens."""
        np.add.at(self.counts, ids, times)

    def codes(self) -> NDArray[np.uint64]:
        """The code of every id: what a model on disk keeps of the index."""
        if self._codes is not None:
            return self._codes
        codes = np.zeros(self._size, np.uint64)
        filled = self._keys != 0
        codes[self._values[filled]] = self._keys[filled]
        return codes

    def freeze(self, minimum_count: int = 1) -> NDArray[np.int32]:
        """Drop what occurred less often, and stop growing. Returns the new id of every old one, -1 where dropped."""
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
        # the room for one chunk of new codes is not kept twice over: double by what is there, not by what may come
        self._build(self.codes(), size=size)
        counts = np.zeros(len(self._keys) // 2, np.int64)
        counts[: len(self.counts)] = self.counts[: len(counts)]
        self.counts = counts

    def _build(self, codes: NDArray[np.uint64], farthest: int | None = None, size: int | None = None) -> int:
        """A new table, with room for so many codes. Returns how many were placed, all unless one came to stand farther
        from its slot."""
        slots = 1 << max(12, (2 * (len(codes) if size is None else size) - 1).bit_length())
        self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        ids = np.arange(len(codes), dtype=np.int32)
        return int(hashing.place(self._keys, self._values, codes, ids, farthest or slots))
