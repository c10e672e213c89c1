"""Arrays in files that processes map into their memory, in a private folder: a model's weights are in memory once."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def private_folder(name: str) -> Path:
    """Return a folder of this user in the temporary directory, which no other user can write."""
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    base = Path(tempfile.gettempdir()) / f"tagweave-{owner}"
    base.mkdir(mode=0o700, exist_ok=True)
    state = base.lstat()
    if base.is_symlink() or (hasattr(os, "getuid") and (state.st_uid != owner or state.st_mode & 0o077)):
        raise PermissionError(f"{base}: found a folder that others can write, expected one of this user alone")
    folder = base / name
    folder.mkdir(exist_ok=True)
    return folder


def mark_used(file: Path) -> None:
    """Note that a file is used now, for `remove_old`. Raises FileNotFoundError if there is none."""
    os.utime(file, ns=(time.time_ns(), file.stat().st_mtime_ns))


def remove_old(files: Iterable[Path], kept: int) -> None:
    """Remove all but the files that were used last. Other processes may do so at the same time."""
    used: dict[Path, int] = {}
    for file in files:
        with suppress(FileNotFoundError):
            used[file] = file.stat().st_atime_ns
    for file in sorted(used, key=lambda path: -used[path])[kept:]:
        file.unlink(missing_ok=True)


_ALIGNED = 64  # bytes


@dataclass(frozen=True)
class MappedArrays:
    """Arrays in a file, as plain data."""

    path: str
    entries: tuple[tuple[str, str, tuple[int, ...], int], ...]

    @classmethod
    def write(cls, path: Path, arrays: Mapping[str, NDArray[Any]]) -> MappedArrays:
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
        """Return the arrays, in memory only where they are used."""
        memory = np.asarray(np.memmap(self.path, np.uint8, mode))  # type: ignore[call-overload]
        arrays = {}
        for name, dtype, shape, first in self.entries:
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            arrays[name] = memory[first : first + size].view(dtype).reshape(shape)
        return arrays
