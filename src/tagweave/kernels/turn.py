"""Turns at compiling: of several processes that need a kernel, one compiles it, and the others read its result.

A turn is an operating system lock on a file, released however its holder ends. Without such locks (Windows, some
network folders), or if the holder takes longer than compiling ever does, nobody waits.
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
"""The most seconds that a process waits for another: a server that is stopped would hang that long."""
_PAUSE = 0.02

_held: list[tuple[int, int]] = []  # depths, and the files that this process has locked: the innermost comes last


def take(path: Path, depth: int) -> None:
    """Wait until no other process has the turn, and hold it until `give_back`.

    Args:
        path: the file of a kernel.
        depth: how many callers of this kernel are being compiled. They keep their turns.

    Raises:
        OSError: the file cannot be created, or the folder does not support locks.
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
    """Release the turn at this depth and all deeper ones."""
    while _held and _held[-1][0] >= depth:
        os.close(_held.pop()[1])


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
