"""Groups on Ray: an actor for every object. Ray replaces those whose worker died, and repeats their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tagweave.cluster.executor import ClusterError, Failure
from tagweave.cluster.group import RETRIES, Arrays, Reply, Resident, nothing

_PAUSE = 0.1  # seconds between calls of `while_waiting`


@dataclass(frozen=True)
class RayGroup:
    """Objects in actors: see `Group`.

    Attributes:
        actors: handles of actors, in the order of the items.
    """

    actors: Sequence[Any]

    def __len__(self) -> int:
        return len(self.actors)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """See `Group.call`."""
        import ray

        shared = ray.put(dict(arrays))
        replies = [actor.call.remote(method, shared, plain) for actor in self.actors]
        for i in range(len(replies)):
            outcome = _outcome(replies[i], while_waiting)
            replies[i] = None  # the store may drop its arrays as soon as the caller has added them
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome
            del outcome


def _outcome(reference: Any, while_waiting: Callable[[], None]) -> Any:
    import ray

    while not ray.wait([reference], timeout=_PAUSE)[0]:
        while_waiting()
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        problem = str(error).strip().split("\n")[0]
        raise ClusterError(f"found a call that ended {RETRIES + 1} workers ({problem})") from error


@contextmanager
def ray_group(function: Callable[[Any], Any], items: Sequence[Any], processors: float) -> Iterator[RayGroup]:
    """A group of actors, each with this number of processors: see `Executor.hold`."""
    import ray

    actor = ray.remote(Resident).options(num_cpus=processors, max_restarts=-1, max_task_retries=RETRIES)
    actors = [actor.remote(function, item) for item in items]
    try:
        yield RayGroup(actors)
    finally:
        for each in actors:
            ray.kill(each)
