"""Compiled code on disk: a file for each kernel and argument types.

It is read from the first folder that has it, and written to the first writable one:

    $NUMBA_CACHE_DIR, if set               the only folder then, as for all users of Numba
    __pycache__ beside the kernels         even if read-only: an image that ran `tagweave warm` has the code there
    the cache folder of the user
    a folder of the temporary directory    accessible to this user alone, since compiled code is executed

The files are Numba's (`numba.core.caching`). Its own cache supports one folder, raises an error if it cannot read or
write, and notices an edit of the kernel's own file, but not of kernels in other files that it calls. So the name of the
folder is a digest of the text of all kernels. A file that cannot be read, such as half a file left by a full disk, is
removed, and the kernel compiled again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
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

from tagweave.kernels.blas import postpone_blas
from tagweave.kernels.notice import begin, end, say
from tagweave.kernels.turn import give_back, take

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


def folders() -> list[Path]:
    """The folders that may hold compiled code; the last resort comes last."""
    if chosen := getattr(config, "CACHE_DIR", ""):
        usual = [Path(chosen) / _INSTALLATION]
    else:
        of_user = Path(AppDirs("tagweave", appauthor=False).user_cache_dir)
        usual = [_SOURCES / "__pycache__", *([of_user / _INSTALLATION] if of_user.is_absolute() else [])]
    temporary = [_temporary()] if _is_own(_temporary()) else []
    return [folder / EDITION for folder in [*usual, *temporary]]


def _is_own(folder: Path) -> bool:
    """Whether no other user can have written to a folder inside a world-writable one."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return True  # it will be made
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True  # Windows has such a place for each user
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == _PRIVATE


class CompiledCode(NullCache):
    """The compiled code of one kernel, as Numba's dispatchers ask for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.rpartition(".")[2]
        self._name = f"{module}.{function.__qualname__}-{sys.implementation.cache_tag}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or `None` if it has to be compiled.

        Compiled code needs Numba's memory alone. Numba's own cache also loads the whole compiler (`refresh`), including
        SciPy's linear algebra, which is half of the start of a short run; here the compiler loads it when needed.
        """
        rtsys.initialize(target_context)
        key = _key(sig, target_context.codegen())
        code = self._kept(key)
        if code is None:
            begin(self._name)
            depth = len(ConfigStack())
            self._take_turn(depth)
            code = self._kept(key)  # another process may have compiled it meanwhile
            if code is None:
                postpone_blas()
                return None
            end()
            give_back(depth)
        return CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep the code compiled for a signature, if a folder is writable."""
        end()
        try:
            is_kept = self._keep(_key(sig, cres.codegen), cres._reduce())
        finally:
            give_back(len(ConfigStack()))
        if not is_kept:
            places = ", ".join(str(each.parent) for each in folders())
            say(f"compiled code cannot be kept ({places}): so at every start")

    def _take_turn(self, depth: int) -> None:
        """Wait if another process is compiling this kernel, instead of compiling it twice."""
        for folder in _writable():
            with suppress(OSError):
                take(folder / f"{self._name}-turn", depth)
                return

    def _kept(self, key: tuple[Any, ...]) -> Any:
        """The code of a key from the first folder that has it, or `None`."""
        found = (self._read(folder, key) for folder in folders())
        return next((code for code in found if code is not None), None)

    def _keep(self, key: tuple[Any, ...], code: Any) -> bool:
        for folder in _writable():
            with suppress(OSError):
                self._files(folder).save(key, code)
                return True
        return False

    def _files(self, folder: Path) -> IndexDataCacheFile:
        return IndexDataCacheFile(str(folder), self._name, llvmlite.__version__)

    def _read(self, folder: Path, key: tuple[Any, ...]) -> Any:
        """The code of a key, or `None`; damaged files are removed."""
        try:
            return self._files(folder).load(key)
        except OSError:  # it is not there, or closed to this user
            return None
        except Exception:  # whatever unpickling makes of half a file
            for file in folder.glob(f"{self._name}.*"):
                with suppress(OSError):  # where it cannot be removed, the code is kept in another folder
                    file.unlink()
            return None


def _key(sig: Any, codegen: Any) -> tuple[Any, ...]:
    return sig, codegen.magic_tuple()


def _writable() -> Iterator[Path]:
    """The writable folders, created if needed."""
    for folder in folders():
        is_last_resort = folder.parent == _temporary()
        try:
            folder.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE if is_last_resort else 0o777)
            if is_last_resort and not _is_own(folder.parent):
                continue
            if not folder.exists():
                _drop_other_editions(folder)
                folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            if is_last_resort:
                say(f"no folder for compiled code can be written to: it is kept in {folder.parent}")
            yield folder


def _drop_other_editions(folder: Path) -> None:
    """Remove the code of kernels that have been edited since."""
    for other in folder.parent.glob("kernels-*"):
        shutil.rmtree(other, ignore_errors=True)
