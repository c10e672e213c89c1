"""Calls for executors to make."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tagweave.cluster.executor import executor_at
from tagweave.cluster.group import Arrays, Reply
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus.errors import CorpusError


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"found {number}, expected 0 or more")
    return number * number


def die_at_first(path: str) -> int:
    """Kills its process, unless an earlier call has left a file."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def content(file: SharedFile) -> str:
    return Path(file.local()).read_text()


def connect(address: str) -> None:
    with executor_at(address):
        pass


class Scale:
    """Multiplies arrays; kills its process once, if it is told to."""

    def __init__(self, factor: float) -> None:
        if factor < 0:
            raise CorpusError(f"the factor {factor}", "0 or more", "factors", 1)
        self.factor = factor

    def times(self, arrays: Arrays, died: str | None = None) -> Reply:
        if died and self.factor == 2:
            die_at_first(died)
        return {name: self.factor * array for name, array in arrays.items()}, self.factor

    def sleep(self, arrays: Arrays) -> Reply:
        time.sleep(60)
        return {}, None

    def die(self, arrays: Arrays) -> Reply:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}, None
