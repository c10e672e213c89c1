"""Executors: they call functions on many processes or machines.

    with executor_at("local", workers=4) as executor:
        for item, outcome in executor.outcomes(function, items):
            ...

Functions are importable by name, and items are plain data. The engine below schedules calls, repeats them and replaces
workers that die: `concurrent.futures` for `local`, Ray for everything else. Groups are objects that live on workers.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from tagweave.cluster.shared_file import SharedFile
from tagweave.errors import TagweaveError

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = "local"
"""The address that means processes of this machine, without Ray."""
AUTO = "auto"
"""The address that means the cluster of `RAY_ADDRESS`, else one that runs here, else one that is started here."""
RETRIES = 10
"""How often a call is repeated because its worker or machine died. One that kills every worker is given up at last."""


class ClusterError(TagweaveError):
    """A cluster that cannot be reached, or workers that died."""


@dataclass(frozen=True)
class Failure:
    """A call that raised an exception."""

    error: Exception
    trace: str


class Executor(Protocol):
    """Calls functions on workers."""

    @property
    def workers(self) -> int:
        """How many calls run at the same time."""
        ...

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        """Call a function for every item; yields items and results as they are finished.

        Items are taken from the iterable as workers become free. After the iterator is closed, no further call is
        begun, except that a Ray cluster carries out the few that it was given ahead.

        Args:
            ahead: take some more items than there are workers, so that none waits. Without it an item is taken when a
                worker is free for it: for items that depend on the outcomes of those before.
        """
        ...

    def share(self, file: SharedFile) -> SharedFile:
        """Return the file, readable on all workers."""
        ...

    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> AbstractContextManager[WorkerGroup]:
        """Keep the results of a function on workers, one for each item, until the end of the block.

        Each stays with a worker of its own. If that dies, another one calls the function again.
        """
        ...


def executor_at(address: str | None, workers: int | None = None, threads: int = 1) -> AbstractContextManager[Executor]:
    """Return the executor of an address, until the end of the block.

    Args:
        address: `LOCAL`, `AUTO`, or the address of a Ray cluster (`HOST:PORT`, `ray://HOST:PORT`); `None`: this
            process, one call after the other.
    """
    if address is None:
        if workers is not None:
            raise ClusterError(
                f"found {workers} workers without a cluster, expected `cluster=local`, auto or an address"
            )

        return nullcontext(IN_PROCESS)
    if address == LOCAL:
        from tagweave.cluster.processes import processes

        return processes(workers, threads)
    from tagweave.cluster.ray_cluster import ray_cluster

    return ray_cluster(address, workers, threads)


def results(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[tuple[Item, Result]]:
    """As `Executor.outcomes`, for calls that must all succeed."""
    for item, outcome in executor.outcomes(function, items):
        if isinstance(outcome, Failure):
            raise outcome.error
        yield item, outcome


def attempt(function: Callable[[Any], Any], item: Any) -> Any:
    """Return the result of a call, or a `Failure`; this is what workers run."""
    try:
        return function(item)
    except Exception as error:
        trace = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
        except Exception:  # some of other packages cannot pass to another process
            return Failure(RuntimeError(f"{type(error).__name__}: {error}"), trace)
        return Failure(error, trace)


Arrays = Mapping[str, NDArray[Any]]
Reply = tuple[Arrays, Any]
"""What methods of the objects return: arrays by name, and plain data."""

PAUSE = 0.1
"""Seconds between calls of `while_waiting`."""


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def nothing() -> None:
    """Do nothing."""


class WorkerGroup(Protocol):
    """Objects on workers."""

    def __len__(self) -> int: ...

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """Call a method of all objects; yields their replies in the order of the items.

        A method takes the arrays and the plain arguments. The objects must give the same reply whenever they are asked
        the same: a call whose worker died is repeated on a new one. `while_waiting`: called several times a second; an
        exception that it raises ends the call.
        """
        ...


class Resident:
    """The worker's side of a group: its object, which is made when it is first needed."""

    def __init__(self, function: Callable[[Any], Any], item: Any) -> None:
        self._function, self._item = function, item
        self.held: Any = None

    def call(self, method: str, arrays: Arrays, plain: tuple[Any, ...]) -> Reply | Failure:
        """Return the reply of a method of the object, or what it raised."""

        def reply(name: str) -> Reply:
            if self.held is None:
                self.held = self._function(self._item)
            answer: Reply = getattr(self.held, name)(arrays, *plain)
            return answer

        found: Reply | Failure = attempt(reply, method)
        return found


@dataclass(frozen=True)
class InProcess:
    """Calls functions where it is: see `Executor`."""

    workers: int = 1

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        for item in items:
            yield item, attempt(function, item)

    def share(self, file: SharedFile) -> SharedFile:
        return file

    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> AbstractContextManager[InProcessGroup]:
        return nullcontext(InProcessGroup([Resident(function, item) for item in items]))


@dataclass(frozen=True)
class InProcessGroup:
    """Objects of this process: see `WorkerGroup`."""

    residents: Sequence[Resident]

    def __len__(self) -> int:
        return len(self.residents)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        for resident in self.residents:
            while_waiting()
            reply = resident.call(method, arrays, plain)
            if isinstance(reply, Failure):
                raise reply.error
            yield reply


IN_PROCESS = InProcess()
"""This process, the default of everything that takes an executor."""
