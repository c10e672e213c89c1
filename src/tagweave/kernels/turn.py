"""Whose turn it is to compile a kernel: one process of those that need it at one time; the others read what it wrote.

The turn is a lock of the operating system on a file, which goes when its holder does, however that ends. Where there
are no such locks (Windows, some network folders), or the holder takes longer than compiling ever does, nobody waits.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LIMIT = 30.0
"""Seconds that a process waits for another one at the most: a server that is to end would hang as long."""
_PAUSE = 0.02

_held: list[tuple[int, int]] = []  # depths, and the files that this process has locked: the innermost comes last


def take(path: Path, depth: int) -> None:
    """Wait until no other process has the turn, and have it until `give_back`.

    Args:
        path: the file of a kernel.
        depth: how many kernels are being compiled that call this one. They keep their turns.

    Raises:
        OSError: the file cannot be made, or the folder knows no locks.
    """
    give_back(depth)  # after an error, or Control-C, there was nothing to keep
    if fcntl is None:
        return
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    _held.append((depth, file))
    end = time.monotonic() + LIMIT
    while not _locked(file) and time.monotonic() < end:
        time.sleep(_PAUSE)


def give_back(depth: int) -> None:
    """Let another process have the turn, at this depth and at all below."""
    while _held and _held[-1][0] >= depth:
        os.close(_held.pop()[1])


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
