"""Compiled code on disk: a file for each kernel and argument types.

It is read from the first folder that has it, and written to the first writable one:

    $NUMBA_CACHE_DIR, if set               the only folder then, as for all users of Numba
    __pycache__ beside the kernels         even if read-only: an image that ran `tagweave warm` has the code there
    the cache folder of the user
    a folder of the temporary directory    accessible to this user alone, since compiled code is executed

The files are Numba's (`numba.core.caching`). As of Numba 0.68, its own locators still choose one folder, raise on a
damaged file, and compare only the kernel's own source file, not the files of the kernels that it calls. So the name of
the folder is a digest of the text of all kernels. A file that cannot be read is removed, and its kernel compiled again.
Of several processes that need a kernel, one compiles it, and the others wait for its turn to end and read the result.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
from numba.core import config
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.targetconfig import ConfigStack
from numba.misc.appdirs import AppDirs

COMPILING = "compiling what this command needs, for half a minute at most; the next run finds it compiled"

_written: set[str] = set()


def say(line: str) -> None:
    """Write a line to standard error, once per process."""
    if line not in _written and sys.stderr is not None:
        _written.add(line)
        sys.stderr.write(f"tagweave: {line}\n")
        sys.stderr.flush()


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LIMIT = 30.0
"""The most seconds that a process waits for another: a server that is stopped would hang that long."""
_PAUSE = 0.02

_held: list[tuple[int, int]] = []  # depths, and the files that this process has locked: the innermost comes last


def take(path: Path, depth: int) -> None:
    """Wait until no other process has the turn at the file of a kernel, and hold it until `give_back`.

    `depth` callers of this kernel are being compiled; they keep their turns. Raises OSError where the file cannot be
    created, or the folder does not support locks.
    """
    give_back(depth)  # after an error, or Control-C, there was nothing to keep
    if fcntl is None:
        return
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    _held.append((depth, file))
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE)


def give_back(depth: int) -> None:
    """Release the turn at this depth and all deeper ones."""
    while _held and _held[-1][0] >= depth:
        os.close(_held.pop()[1])


_SOURCES = Path(__file__).parent
_PRIVATE = 0o700


def _digest_of_sources() -> str:
    sources = sorted(_SOURCES.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


EDITION = f"kernels-{_digest_of_sources()}"
"""The name of the text of all kernels."""
_INSTALLATION = f"tagweave-{hashlib.sha256(str(_SOURCES).encode()).hexdigest()[:16]}"


def _temporary() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else ""
    return Path(tempfile.gettempdir()) / f"tagweave-{user}"


def cache_folder() -> Path:
    """Return the folder for what can be made again: of the user, or $NUMBA_CACHE_DIR; relative if there is none."""
    return Path(getattr(config, "CACHE_DIR", "") or AppDirs("tagweave", appauthor=False).user_cache_dir)


def folders() -> list[Path]:
    """Return the folders that may hold compiled code; the last resort comes last."""
    usual = [cache_folder() / _INSTALLATION]
    if not getattr(config, "CACHE_DIR", ""):
        usual = [_SOURCES / "__pycache__", *(folder for folder in usual if folder.is_absolute())]
    temporary = [_temporary()] if _is_own(_temporary()) else []
    return [folder / EDITION for folder in [*usual, *temporary]]


def _is_own(folder: Path) -> bool:
    """Return whether no other user can have written to a folder inside a world-writable one."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return True  # it will be made
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True  # Windows has such a place for each user
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == _PRIVATE


def is_kept(kernel: str) -> bool:
    """Return whether there is compiled code of a kernel, named by its module and function, for some arguments."""
    return any((folder / f"{_file_name(kernel)}.nbi").exists() for folder in folders())


def _file_name(kernel: str) -> str:
    return f"{kernel}-{sys.implementation.cache_tag}"


class CompiledCode(NullCache):
    """The compiled code of one kernel, as Numba's dispatchers ask for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.rpartition(".")[2]
        self._name = _file_name(f"{module}.{function.__qualname__}")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or `None` if it has to be compiled.

        Compiled code needs Numba's memory alone. Numba's own cache also loads the whole compiler (`refresh`), which
        takes longer than a short run.
        """
        rtsys.initialize(target_context)
        key = sig, target_context.codegen().magic_tuple()
        code = self._kept(key)
        if code is None:
            say(COMPILING)
            depth = len(ConfigStack())
            _first_writable(lambda folder: take(folder / f"{self._name}-turn", depth))
            code = self._kept(key)  # another process may have compiled it meanwhile
            if code is None:
                return None
            give_back(depth)
        return CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep the code compiled for a signature, if a folder is writable."""
        key, code = (sig, cres.codegen.magic_tuple()), cres._reduce()
        try:
            is_kept = _first_writable(lambda folder: self._files(folder).save(key, code))
        finally:
            give_back(len(ConfigStack()))
        if not is_kept:
            places = ", ".join(str(folder.parent) for folder in folders())
            say(f"compiled code cannot be kept ({places}): so at every start")

    def _kept(self, key: tuple[Any, ...]) -> Any:
        """Return the code of a key from the first folder that has it, or `None`; remove damaged files."""
        for folder in folders():
            try:
                if (code := self._files(folder).load(key)) is not None:
                    return code
            except OSError:  # it is not there, or closed to this user
                continue
            except Exception:  # whatever unpickling makes of half a file
                for file in folder.glob(f"{self._name}.*"):
                    with suppress(OSError):  # where it cannot be removed, the code is kept in another folder
                        file.unlink()
        return None

    def _files(self, folder: Path) -> IndexDataCacheFile:
        return IndexDataCacheFile(str(folder), self._name, llvmlite.__version__)


def _first_writable(use: Callable[[Path], None]) -> bool:
    """Use the first folder where that raises no OSError. Return whether there is one."""
    for folder in _writable():
        with suppress(OSError):
            use(folder)
            return True
    return False


def _writable() -> Iterator[Path]:
    """Return the writable folders, created if needed."""
    for folder in folders():
        is_last_resort = folder.parent == _temporary()
        try:
            folder.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE if is_last_resort else 0o777)
            if is_last_resort and not _is_own(folder.parent):
                continue
            if not folder.exists():
                for other in folder.parent.glob("kernels-*"):  # of kernels that have been edited since
                    shutil.rmtree(other, ignore_errors=True)
                folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            if is_last_resort:
                say(f"no folder for compiled code can be written to: it is kept in {folder.parent}")
            yield folder
