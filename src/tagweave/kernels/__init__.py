"""Numba functions over arrays, and what lays arrays out for them; nothing else.

Every kernel is compiled on its first call and kept in `__pycache__`. Numba notices an edit of the file that defines a
kernel, but not of a kernel that it calls in another file, so the compiled code is dropped when any kernel file changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

_FOLDER = Path(__file__).parent


def _drop_stale_code() -> None:
    sources = sorted(_FOLDER.glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    stamp = _FOLDER / "__pycache__" / "kernels.sha256"
    if stamp.exists() and stamp.read_text() == digest:
        return
    try:
        for index in stamp.parent.glob("*.nbi"):
            index.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest)
    except OSError:
        return  # a read-only installation: its files do not change under it


_drop_stale_code()


def kernel(function: Callable[..., Any], reassociate: bool = False, inlined: bool = False) -> Callable[..., Any]:
    """Compile `function` lazily, without the interpreter lock, with the compiled code kept on disk.

    No fast math: it turns log-sum-exp of (-inf, -inf) into nan. `reassociate` lets a sum be taken in any order, which
    is what it needs to become vector code. `inlined` puts the function into its callers whatever its size: an array is
    seven arguments of a call, which costs more than a few steps of a loop.
    """
    fastmath = {"reassoc", "nsz"} if reassociate else False
    compiled: Callable[..., Any] = njit(
        nogil=True, cache=True, error_model="numpy", fastmath=fastmath, forceinline=inlined
    )(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` of a function that is put into its callers."""
    return kernel(function, inlined=True)
