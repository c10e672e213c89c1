"""The executor of a Ray cluster: one that runs, or one that is started on this machine.

Ray schedules the calls, repeats those whose worker or machine died, and starts new workers. A group has an actor for
every object; Ray replaces actors whose worker died, and repeats their calls.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from tagweave import __version__
from tagweave.cluster.executor import (
    AUTO,
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
)
from tagweave.cluster.shared_file import SharedFile


@dataclass(frozen=True)
class RayGroup:
    """Objects in actors. `makers` are references to the function and the item of each, which travel with every
    call, since Ray would not keep arguments of a constructor for another start."""

    actors: Sequence[Any]
    makers: Sequence[Any]

    def __len__(self) -> int:
        return len(self.actors)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        import ray

        shared = ray.put(dict(arrays))
        pairs = zip(self.actors, self.makers, strict=True)
        replies = [actor.call.remote(maker, method, shared, plain) for actor, maker in pairs]
        for i in range(len(replies)):
            outcome = _outcome(replies[i], while_waiting)
            replies[i] = None  # the store may drop its arrays as soon as the caller has added them
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome
            del outcome


class _Actor:
    """The worker's side: a resident, made at the first call."""

    def __init__(self) -> None:
        self._resident: Resident | None = None

    def call(
        self, maker: tuple[Callable[[Any], Any], Any], method: str, arrays: Arrays, plain: tuple[Any, ...]
    ) -> Reply | Failure:
        self._resident = self._resident or Resident(*maker)
        return self._resident.call(method, arrays, plain)


def _outcome(reference: Any, while_waiting: Callable[[], None]) -> Any:
    import ray

    while not ray.wait([reference], timeout=PAUSE)[0]:
        while_waiting()
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        raise ended_workers(error) from error


def ended_workers(error: Exception) -> ClusterError:
    """Return the error of a call that ended every worker it was given to."""
    return ClusterError(f"found a call that ended {RETRIES + 1} workers ({first_line(error)})")


def first_line(error: Exception) -> str:
    """What an error of Ray says before its trace."""
    return str(error).strip().split("\n")[0]


_AHEAD = 4  # calls given to Ray for each worker: an autoscaler starts machines for those that wait
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody unless the user says so
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # otherwise a warning about GPUs
}


@dataclass(frozen=True)
class RayCluster:
    """Calls functions on a Ray cluster: see `Executor`. `limit`: the largest number of calls at the same time; `None`:
    as many as the cluster has processors for."""

    limit: int | None
    threads: int

    @property
    def workers(self) -> int:
        """See `Executor.workers`; the number may change while machines come and go."""
        fit = max(1, int(_processors()) // self.threads)
        return min(fit, self.limit or fit)

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        """See `Executor.outcomes`.

        The calls that Ray has when the iterator is closed run to their end: `ray.cancel` aborts this process if a call
        finishes at that moment ("Tried to complete task that was not pending", seen in Ray 2.51 and 2.60).
        """
        import ray

        call = ray.remote(attempt).options(num_cpus=self.threads, max_retries=RETRIES, name=function.__name__)
        waiting = iter(items)
        running: dict[Any, Item] = {}
        while True:
            # machines may have left, so that more calls run than should be begun now
            most = self.limit or (_AHEAD if ahead else 1) * self.workers
            for item in islice(waiting, max(0, most - len(running))):
                running[call.remote(function, item)] = item
            if not running:
                return
            ray.wait(list(running), num_returns=1)
            # Ray looks at every call each time: so take all that have finished, not the first alone
            done, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
            for reference in done:
                yield running.pop(reference), _result(reference)

    def share(self, file: SharedFile) -> SharedFile:
        import ray

        return replace(file, content=ray.put(Path(file.path).read_bytes()))

    @contextmanager
    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> Iterator[RayGroup]:
        """See `Executor.hold`. Objects share processors if the cluster has too few."""
        import ray

        share = _processors() / max(1, len(items))
        processors = min(self.threads, int(share) if share >= 1 else int(1000 * share) / 1000)
        actor = ray.remote(_Actor).options(num_cpus=processors, max_restarts=-1, max_task_retries=RETRIES)
        actors: list[Any] = [actor.remote() for _ in items]
        try:
            yield RayGroup(actors, [ray.put((function, item)) for item in items])
        finally:
            for each in actors:
                ray.kill(each)


@contextmanager
def ray_cluster(address: str, workers: int | None, threads: int) -> Iterator[RayCluster]:
    """An executor of a Ray cluster: see `executor_at`."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        expected = "it for `cluster` (pip install '.[ray]' in a checkout of tagweave), or `cluster=local`"
        raise ClusterError(f"found no Ray, expected {expected}") from error
    had_one = ray.is_initialized()
    if not had_one:
        _connect(address)
    try:
        _check_version()
        yield RayCluster(workers, threads)
    finally:
        if not had_one:
            ray.shutdown()


def _connect(address: str) -> None:
    import ray

    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == AUTO:
            ray.init(include_dashboard=False, **settings)
        else:
            _check_answers(address)
            ray.init(address, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        found = f"found no Ray cluster at {address!r} ({first_line(error)})"
        raise ClusterError(f"{found}, expected one that runs") from error


def _check_answers(address: str) -> None:
    """Raise unless somebody listens at an address: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        raise ValueError("expected HOST:PORT or ray://HOST:PORT")
    socket.create_connection((host, int(port)), timeout=10).close()


def _check_version() -> None:
    """Raise unless the workers run this version of the package."""
    import ray

    try:
        found = ray.get(ray.remote(_version).options(num_cpus=0).remote())
    except ray.exceptions.RayError as error:
        raise ClusterError(f"found workers without tagweave, expected version {__version__} on them") from error
    if found != __version__:
        raise ClusterError(f"found tagweave {found} on the workers, expected {__version__}, as here")


def _version() -> str:
    return __version__


def _result(reference: Any) -> Any:
    """Return the result of a call, or a failure if its workers died again and again."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        problem = str(error).strip().split("\n")[-1]
        return Failure(ClusterError(f"found a worker that cannot begin a call ({problem})"), str(error))
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        return Failure(ended_workers(error), str(error))
    except ray.exceptions.RayError as error:  # nothing that a call is to blame for
        expected = "a cluster that runs; what is finished stays, and the same command continues"
        raise ClusterError(f"found no more of the cluster ({first_line(error)}), expected {expected}") from error


def _processors() -> float:
    import ray

    resources: Any = ray.cluster_resources  # without types in some versions of Ray
    return float(resources().get("CPU", 1))
