"""The executor of this machine: processes of `concurrent.futures`."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tagweave.cluster.executor import ClusterError, Failure, Item, Result, attempt
from tagweave.cluster.process_group import ProcessGroup, leave_with_parent, process_group
from tagweave.cluster.shared_file import SharedFile

_DIED = (
    "found a worker that died, expected memory for every worker, and programs that start workers under"
    " `if __name__ == '__main__':`; what is finished stays, and the same command continues"
)


@dataclass(frozen=True)
class Processes:
    """Calls functions in processes of this machine: see `Executor`."""

    pool: ProcessPoolExecutor
    workers: int

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        """See `Executor.outcomes`."""
        waiting, most = iter(items), (2 if ahead else 1) * self.workers
        running: dict[Future[Any], Item] = {}
        try:
            while True:
                for item in islice(waiting, most - len(running)):
                    running[self.pool.submit(attempt, function, item)] = item
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        except BrokenProcessPool as error:
            raise ClusterError(_DIED) from error
        finally:
            for future in running:
                future.cancel()

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
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up
    pool = ProcessPoolExecutor(workers, context, leave_with_parent)
    try:
        yield Processes(pool, workers)
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()


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
