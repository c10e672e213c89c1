"""Waiting for other processes, and telling whether they are there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something to be so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def is_there(process: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(process, signal.SIG_DFL)
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


def number_in(path: Path) -> int:
    """The number of a process that has written it to a file."""
    until(lambda: path.exists() and path.read_text("ascii").isdigit())
    return int(path.read_text("ascii"))
