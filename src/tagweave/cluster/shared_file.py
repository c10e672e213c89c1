"""Files that travel to the workers that need them, and files of arrays that processes map into their memory."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import digest, whole_file

_KEPT = 16  # copies that stay in the temporary directory, those used last


@dataclass(frozen=True)
class SharedFile:
    """A file, by its name where the work was started."""

    path: str
    sha256: str  # its digest
    content: Any = None  # its bytes in Ray's object store; `None` if all workers see the path

    @classmethod
    def of(cls, path: str) -> SharedFile:
        absolute = str(Path(path).absolute())  # a link keeps its name, which may tell the format
        return cls(absolute, digest(absolute))

    def local(self) -> str:
        """Return the path of a file with this content on this machine.

        That is the path itself if this machine has the same file there, otherwise a copy in the temporary directory,
        which the workers of a machine share.
        """
        return self.path if _has_digest(self.path, self.sha256) else _copied(self)


def _has_digest(path: str, expected: str) -> bool:
    try:
        state = Path(path).stat()
        return _digest(path, state.st_ino, state.st_size, state.st_mtime_ns) == expected
    except OSError:
        return False


@lru_cache
def _digest(path: str, *state: int) -> str:
    """Return the digest of a file, computed once as long as its state is the same: models and corpora are large."""
    return digest(path)


def _copied(file: SharedFile) -> str:
    folder = private_folder("files")
    copy = folder / f"{file.sha256}-{Path(file.path).name}"
    with suppress(FileNotFoundError):
        mark_used(copy)  # so that no other process removes it as old
    if not _has_digest(str(copy), file.sha256):
        if file.content is None:
            raise FileNotFoundError(f"{file.path}: found another file or none on this machine, expected the same one")
        import ray

        remove_old(folder.iterdir(), _KEPT - 1)
        with whole_file(copy) as part:
            part.write_bytes(ray.get(file.content))
    return str(copy)


def private_folder(name: str) -> Path:
    """Return a folder of this user in the temporary directory, which no other user can write."""
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    base = Path(tempfile.gettempdir()) / f"tagweave-cluster-{owner}"
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
    for file in sorted(used, key=lambda each: -used[each])[kept:]:
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
