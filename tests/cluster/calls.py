"""Calls for executors to make."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from tagweave.cluster.executor import Arrays, Reply, executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.errors import CorpusError
from tagweave.training.sharded_job import Aspect, TrainingShard


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


class MortalShard(TrainingShard):
    """Kills its process in the second call, if there is a file `CORPUS.die` and it is not the first shard."""

    def parts(self, arrays: Arrays, aspect: Aspect) -> Reply:
        self._die_once()
        return super().parts(arrays, aspect)

    def part_of_iteration(self, arrays: Arrays, *plain: Any) -> Reply:
        self._die_once()
        return super().part_of_iteration(arrays, *plain)

    def _die_once(self) -> None:
        self.calls = getattr(self, "calls", 0) + 1
        shard = self._task.shard
        die = Path(f"{shard.blocks[0][0].file.path}.die")
        if self.calls == 2 and shard.first and die.exists():
            die.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
