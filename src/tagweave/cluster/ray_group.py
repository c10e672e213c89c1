"""Groups on Ray: an actor for every object. Ray replaces those whose worker died, and repeats their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tagweave.cluster.executor import RETRIES, ClusterError, Failure
from tagweave.cluster.group import PAUSE, Arrays, Reply, Resident, nothing


@dataclass(frozen=True)
class RayGroup:
    """Objects in actors: see `Group`.

    Attributes:
        actors: handles of actors, in the order of the items.
        makers: references to the function and the item of each. They travel with every call, since Ray would not keep
            arguments of a constructor for another start.
    """

    actors: Sequence[Any]
    makers: Sequence[Any]

    def __len__(self) -> int:
        return len(self.actors)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """See `Group.call`."""
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


@contextmanager
def ray_group(function: Callable[[Any], Any], items: Sequence[Any], processors: float) -> Iterator[RayGroup]:
    """A group of actors, each with this number of processors: see `Executor.hold`."""
    import ray

    actor = ray.remote(_Actor).options(num_cpus=processors, max_restarts=-1, max_task_retries=RETRIES)
    actors: list[Any] = [actor.remote() for _ in items]
    try:
        yield RayGroup(actors, [ray.put((function, item)) for item in items])
    finally:
        for each in actors:
            ray.kill(each)


def ended_workers(error: Exception) -> ClusterError:
    """The error of a call that ended every worker it was given to."""
    return ClusterError(f"found a call that ended {RETRIES + 1} workers ({first_line(error)})")


def first_line(error: Exception) -> str:
    """What an error of Ray says before its trace."""
    return str(error).strip().split("\n")[0]
