"""Groups on this machine: a process for every object, replaced when it dies.

Arrays pass between processes in files, which they map.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from tagweave.cluster.executor import RETRIES, ClusterError, Failure
from tagweave.cluster.group import PAUSE, Arrays, Reply, Resident, nothing
from tagweave.cluster.mapped_arrays import MappedArrays
from tagweave.cluster.shared_file import private_folder


@dataclass
class _Worker:
    """A process with an object, started when it is needed.

    Attributes:
        function, item: make the object.
        reply: the file for the arrays of its replies.
    """

    context: SpawnContext
    function: Callable[[Any], Any]
    item: Any
    reply: Path
    process: SpawnProcess | None = None
    connection: Connection | None = None

    def send(self, message: Any) -> None:
        """Send a message, to a new process if there is none that runs."""
        if self.process is None:
            self._start()
        assert self.connection is not None  # noqa: S101 - set by _start
        with suppress(OSError):  # whoever waits for the answer notices that the process has ended
            self.connection.send(message)

    def answer(self, while_waiting: Callable[[], None]) -> Any:
        """The answer to the last message; raises EOFError if the process ends before."""
        assert self.connection is not None  # noqa: S101 - a message was sent
        while not self.connection.poll(PAUSE):
            while_waiting()
        try:
            return self.connection.recv()
        except OSError as error:
            raise EOFError from error

    def end(self) -> None:
        """End the process."""
        if self.process is not None and self.connection is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = self.connection = None

    def _start(self) -> None:
        ours, theirs = self.context.Pipe()
        arguments = theirs, self.function, self.item, self.reply
        process = self.context.Process(target=_serve, args=arguments, daemon=True)  # it ends when this process exits
        process.start()
        theirs.close()
        self.process, self.connection = process, ours


@dataclass
class ProcessGroup:
    """Objects in processes of this machine: see `Group`.

    Attributes:
        workers: the processes, in the order of the items.
        folder: the folder of the files through which arrays pass.
    """

    workers: list[_Worker]
    folder: Path

    def __len__(self) -> int:
        return len(self.workers)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """See `Group.call`. The arrays of replies are valid until the next call."""
        message = method, MappedArrays.write(self.folder / "call", arrays), plain
        busy = list(self.workers)
        try:
            for worker in self.workers:
                worker.send(message)
            for worker in self.workers:
                outcome = _outcome(worker, message, while_waiting)
                busy.remove(worker)
                if isinstance(outcome, Failure):
                    raise outcome.error
                stored, result = outcome
                yield stored.read(), result
        finally:
            for worker in busy:  # the call was given up
                worker.end()


def _outcome(worker: _Worker, message: Any, while_waiting: Callable[[], None]) -> Any:
    for _ in range(RETRIES + 1):
        try:
            return worker.answer(while_waiting)
        except EOFError:
            worker.end()
            worker.send(message)
    worker.end()
    raise ClusterError(f"found a call that ended {RETRIES + 1} workers, expected memory enough for each of them")


@contextmanager
def process_group(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[ProcessGroup]:
    """A group of processes: see `Executor.hold`."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up
    with tempfile.TemporaryDirectory(dir=private_folder("groups"), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        group = ProcessGroup(
            [_Worker(context, function, item, folder / f"reply-{i}") for i, item in enumerate(items)], folder
        )
        try:
            yield group
        finally:
            for worker in group.workers:
                worker.end()


def _serve(connection: Connection, function: Callable[[Any], Any], item: Any, reply: Path) -> None:
    """Answer messages, until the other end of the connection is gone."""
    leave_with_parent()
    resident = Resident(function, item)
    while True:
        try:
            method, stored, plain = connection.recv()
        except EOFError:
            return
        outcome = resident.call(method, stored.read(), plain)
        if isinstance(outcome, Failure):
            connection.send(outcome)
        else:
            arrays, result = outcome
            connection.send((MappedArrays.write(reply, arrays), result))


def leave_with_parent() -> None:
    """End this worker when the process that started it is gone, even if that was killed, and not by Ctrl-C before."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides what it means
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
