"""Calls for executors to make."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tagweave.cluster.executor import Arrays, Reply, executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.errors import CorpusError


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


def die_below_zero(number: int) -> int:
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def survives_interrupt(number: int) -> bool:
    """Sends its process what Ctrl-C sends to all processes of a terminal."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        return False
    return True


class TwoArgumentsError(Exception):
    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")


class FunctionError(Exception):
    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.repair = lambda: None


def raise_what_does_not_travel(kind: str) -> None:
    raise TwoArgumentsError("one", "two") if kind == "arguments" else FunctionError("found none, expected some")


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
