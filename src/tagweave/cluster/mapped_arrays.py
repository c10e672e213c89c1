"""Arrays in a file that processes map into their memory, so that the system reads what is used and drops the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 64  # bytes


@dataclass(frozen=True)
class MappedArrays:
    """Arrays in a file, as plain data.

    Attributes:
        path: the file.
        entries: the name, type, shape and first byte of every array.
    """

    path: str
    entries: tuple[tuple[str, str, tuple[int, ...], int], ...]

    @classmethod
    def write(cls, path: Path, arrays: Mapping[str, NDArray[Any]]) -> MappedArrays:
        """Write arrays to a file, over what it held. Raises OSError if it cannot be written."""
        entries, at = [], 0
        with path.open("r+b" if path.exists() else "wb") as file:
            for name, array in arrays.items():
                entries.append((name, array.dtype.str, array.shape, at))
                file.seek(at)
                file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
                at += -(-array.nbytes // _ALIGNED) * _ALIGNED
            file.truncate(max(at, _ALIGNED))  # nothing cannot be mapped
        return cls(str(path), tuple(entries))

    def read(self, mode: str = "r") -> dict[str, NDArray[Any]]:
        """The arrays, in memory only where they are used.

        Args:
            mode: `r`, or `r+` for arrays that can be written, and write the file.

        Raises:
            OSError: there is no such file.
        """
        memory = np.asarray(np.memmap(self.path, np.uint8, mode))  # type: ignore[call-overload]
        return {name: _view(memory, np.dtype(dtype), shape, first) for name, dtype, shape, first in self.entries}


def _view(memory: NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...], first: int) -> NDArray[Any]:
    size = int(np.prod(shape)) * dtype.itemsize
    return memory[first : first + size].view(dtype).reshape(shape)
