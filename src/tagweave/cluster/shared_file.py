"""Files that travel to the workers which need them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tagweave.corpus.whole_file import whole_file


@dataclass(frozen=True)
class SharedFile:
    """A file, by its name where the work was started.

    Attributes:
        path: its absolute path there.
        sha256: its digest.
        content: its bytes in Ray's object store; `None` if all workers see the path.
    """

    path: str
    sha256: str
    content: Any = None

    @classmethod
    def of(cls, path: str) -> SharedFile:
        """The file of a path. Raises OSError if it cannot be read."""
        absolute = str(Path(path).absolute())  # a link keeps its name, which may tell the format
        return cls(absolute, _digest(absolute))

    def local(self) -> str:
        """The path of a file with this content on this machine.

        That is the path itself if this machine has the same file there, otherwise a copy in the temporary directory,
        which the workers of a machine share.

        Raises:
            OSError: there is no such file here, and it cannot be copied.
        """
        return _local(self.path, self.sha256) or _copied(self)


@lru_cache
def _local(path: str, sha256: str) -> str | None:
    try:
        return path if _digest(path) == sha256 else None
    except OSError:
        return None


def _copied(file: SharedFile) -> str:
    copy = private_folder("files") / f"{file.sha256}-{Path(file.path).name}"
    if _local(str(copy), file.sha256) is None:
        if file.content is None:
            raise FileNotFoundError(f"{file.path}: found another file or none on this machine, expected the same one")
        import ray

        with whole_file(copy) as part:
            part.write_bytes(ray.get(file.content))
    _local.cache_clear()
    return str(copy)


def private_folder(name: str) -> Path:
    """A folder of this user in the temporary directory, which no other user can write.

    Raises:
        OSError: it cannot be made, or belongs to somebody else.
    """
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    base = Path(tempfile.gettempdir()) / f"tagweave-cluster-{owner}"
    base.mkdir(mode=0o700, exist_ok=True)
    state = base.lstat()
    if base.is_symlink() or (hasattr(os, "getuid") and (state.st_uid != owner or state.st_mode & 0o077)):
        raise PermissionError(f"{base}: found a folder that others can write, expected one of this user alone")
    folder = base / name
    folder.mkdir(exist_ok=True)
    return folder


def _digest(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
