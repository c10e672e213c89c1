"""Files and folders that appear completely or not at all.

Both are made in a folder `NAME.xxxxxxxx.part` beside their place. The process that writes holds a lock on that folder,
which the system releases however the process ends: who writes NAME next removes what a killed process has left.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows: what a killed process has left stays
    fcntl = None  # type: ignore[assignment]

_NAME = 60  # last characters of the name, of up to four bytes: with its ending it must be a name, too


@contextmanager
def whole_file(path: Path | str, parts: Path | None = None) -> Iterator[Path]:
    """An empty temporary file, which becomes the file `path` when the block ends without an exception.

    A symbolic link stays, and the file that it points to is replaced. The new file has the permissions of the old one,
    or if there was none, those of any new file.

    Args:
        path: the file.
        parts: a folder of the same file system for the temporary file, instead of the one of `path`.

    Raises:
        OSError: the file cannot be written; an existing one stays as it was.
    """
    target = Path(os.path.realpath(path))
    before = _state(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with _part(target, parts) as folder:
        file = folder / target.name
        file.touch()
        mode = (before or file.stat()).st_mode
        yield file
        file.chmod(mode & 0o777)  # a writer may have replaced the file
        file.replace(target)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """An empty temporary folder, which becomes the folder `path` when the block ends without an exception.

    Raises:
        OSError: it cannot be written; an existing folder stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _part(path) as part:
        new, old = part / "new", part / "old"
        new.mkdir()
        yield new
        if path.exists():
            path.rename(old)
        new.rename(path)


def remove_left(folder: Path, pattern: str = "*") -> None:
    """Remove what killed processes have left in a folder of files whose names match a pattern."""
    for part in folder.glob(f"{pattern}.????????.part"):
        with suppress(OSError):  # somebody is at work there, or has just removed it
            lock = _locked(part)
            try:
                shutil.rmtree(part, ignore_errors=True)
            finally:
                os.close(lock)


@contextmanager
def _part(target: Path, parts: Path | None = None) -> Iterator[Path]:
    """A folder in which `target` is made; it is removed at the end.

    Raises:
        OSError: it cannot be made.
    """
    folder, name = parts or target.parent, target.name[-_NAME:]
    remove_left(folder, escape(name))
    try:
        part, lock = _made(folder, name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _made(folder: Path, name: str) -> tuple[Path, int | None]:
    """A new folder with its lock; `None` where the system has no such locks, so that nobody removes it, either."""
    while True:
        part = folder / f"{name}.{secrets.token_hex(4)}.part"
        part.mkdir(mode=0o700)
        try:
            lock = _locked(part)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process has taken it for left over, before it was locked
        except OSError:
            return part, None
        if part.exists():
            return part, lock
        os.close(lock)


def _locked(folder: Path) -> int:
    """Lock a folder until the descriptor is closed.

    Raises:
        OSError: another process has locked it, it is gone, or there are no such locks.
    """
    if fcntl is None:
        raise OSError(errno.ENOTSUP, "no locks", str(folder))
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(file)
        raise
    return file


def _state(path: Path) -> os.stat_result | None:
    """What the file is; `None` if there is none. Asked once: another process may remove it in between."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
