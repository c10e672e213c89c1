"""The executor of this machine: processes of `concurrent.futures`.

A group has a process for every object, replaced when it dies. Arrays pass in files that both processes map.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from tagweave.cluster.executor import (
    PAUSE,
    RETRIES,
    Arrays,
    ClusterError,
    Failure,
    Item,
    Reply,
    Resident,
    Result,
    attempt,
    nothing,
    processors,
)
from tagweave.cluster.shared_file import MappedArrays, SharedFile, private_folder

_SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up


@dataclass
class _Worker:
    """A process with an object, started when it is needed."""

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
        """Return the answer to the last message; raises EOFError if the process ends before."""
        assert self.connection is not None  # noqa: S101 - a message was sent
        while not self.connection.poll(PAUSE):
            while_waiting()
        try:
            return self.connection.recv()
        except OSError as error:
            raise EOFError from error

    def end(self) -> None:
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
    """Objects in processes of this machine: see `WorkerGroup`."""

    workers: list[_Worker]
    folder: Path

    def __len__(self) -> int:
        return len(self.workers)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """See `WorkerGroup.call`. The arrays of replies are valid until the next call."""
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


_DIED = (
    "found a call that ended its worker twice, the second time alone, expected memory for it, and programs that start"
    " workers under `if __name__ == '__main__':`"
)


@dataclass
class Processes:
    """Calls functions in processes of this machine: see `Executor`.

    A process that dies ends its pool, with all calls in flight. They are repeated one at a time in a new pool, until
    one ends its worker again: that one has failed, and the others wait for their turn like new ones.
    """

    workers: int
    pool: ProcessPoolExecutor

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        waiting, most = iter(items), (2 if ahead else 1) * self.workers
        running: dict[Future[Any], Item] = {}
        lost: deque[Item] = deque()
        try:
            while True:
                for item in islice(chain(_taken(lost), waiting), most - len(running)):
                    running[self._submit(function, item)] = item
                if not running:
                    return
                for future in _finished(running):
                    item = running.pop(future)
                    if _is_lost(future):
                        lost.append(item)
                    else:
                        yield item, future.result()
                for item in _taken(lost):  # one by one, until a call ends its worker
                    future = self._submit(function, item)
                    wait([future])
                    if _is_lost(future):
                        yield item, Failure(ClusterError(_DIED), str(future.exception()))
                        break
                    yield item, future.result()
        finally:
            for future in running:
                future.cancel()

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Future[Any]:
        """Begin a call, in a new pool if the present one is broken."""
        try:
            return self.pool.submit(attempt, function, item)
        except BrokenProcessPool:
            self.pool = _new_pool(self.workers)
            return self.pool.submit(attempt, function, item)

    def share(self, file: SharedFile) -> SharedFile:
        return file

    @contextmanager
    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> Iterator[ProcessGroup]:
        with tempfile.TemporaryDirectory(dir=private_folder("groups"), ignore_cleanup_errors=True) as name:
            folder = Path(name)
            workers = [_Worker(_SPAWN, function, item, folder / f"reply-{i}") for i, item in enumerate(items)]
            try:
                yield ProcessGroup(workers, folder)
            finally:
                for worker in workers:
                    worker.end()


@contextmanager
def processes(workers: int | None, threads: int) -> Iterator[Processes]:
    """An executor of processes: see `executor_at`. If the block raises, calls in flight are dropped."""
    workers = workers or max(1, processors() // threads)
    executor = Processes(workers, _new_pool(workers))
    try:
        yield executor
    except BaseException:
        _end(executor.pool)
        raise
    executor.pool.shutdown()


def _new_pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, _SPAWN, leave_with_parent)


def _taken(items: deque[Item]) -> Iterator[Item]:
    while items:
        yield items.popleft()


def _finished(running: Mapping[Future[Any], Any]) -> list[Future[Any]]:
    """Calls that are finished, in the order in which they began; all of them if a process died."""
    done = wait(running, return_when=FIRST_COMPLETED).done
    if any(_is_lost(future) for future in done):
        done = wait(running).done
    return [future for future in running if future in done]


def _is_lost(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool with the calls in flight, whose results nobody will see."""
    workers = list(pool._processes.values())  # no public name before Python 3.14
    manager: Any = pool._executor_manager_thread
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.kill()
    if manager is not None:
        manager.join()  # it frees what the pool holds of the system
