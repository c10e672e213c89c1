"""The executor of this machine: processes of `concurrent.futures`."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from tagweave.cluster.executor import ClusterError, Failure, Item, Result, attempt
from tagweave.cluster.process_group import ProcessGroup, leave_with_parent, process_group
from tagweave.cluster.shared_file import SharedFile

_DIED = (
    "found a call that ended its worker twice, the second time alone, expected memory for it, and programs that start"
    " workers under `if __name__ == '__main__':`"
)


@dataclass
class Processes:
    """Calls functions in processes of this machine: see `Executor`.

    A process that dies ends its pool, with all calls in flight. They are repeated one at a time in a new pool, until
    one ends its worker again: that one has failed, and the others wait for their turn like new ones.

    Attributes:
        workers: how many processes a pool has.
        pool: the present one.
    """

    workers: int
    pool: ProcessPoolExecutor

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        """See `Executor.outcomes`."""
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
                yield from self._one_by_one(function, lost)
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

    def _one_by_one(
        self, function: Callable[[Item], Result], items: deque[Item]
    ) -> Iterator[tuple[Item, Result | Failure]]:
        """Take items and call the function for each, until a call ends its worker."""
        for item in _taken(items):
            future = self._submit(function, item)
            wait([future])
            if _is_lost(future):
                yield item, Failure(ClusterError(_DIED), str(future.exception()))
                return
            yield item, future.result()

    def share(self, file: SharedFile) -> SharedFile:
        """See `Executor.share`."""
        return file

    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> AbstractContextManager[ProcessGroup]:
        """See `Executor.hold`."""
        return process_group(function, items)


@contextmanager
def processes(workers: int | None, threads: int) -> Iterator[Processes]:
    """An executor of processes: see `executor_at`. If the block raises, calls in flight are dropped."""
    workers = workers or max(1, _processors() // threads)
    executor = Processes(workers, _new_pool(workers))
    try:
        yield executor
    except BaseException:
        _end(executor.pool)
        raise
    executor.pool.shutdown()


def _new_pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up
    return ProcessPoolExecutor(workers, context, leave_with_parent)


def _taken(items: deque[Item]) -> Iterator[Item]:
    """Take items off the left, as they are asked for."""
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


def _processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
