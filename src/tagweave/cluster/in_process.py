"""The executor of this process: one call after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tagweave.cluster.executor import Failure, Item, Result, attempt
from tagweave.cluster.shared_file import SharedFile


@dataclass(frozen=True)
class InProcess:
    """Calls functions where it is: see `Executor`."""

    workers: int = 1

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Iterator[tuple[Item, Result | Failure]]:
        """See `Executor.outcomes`."""
        for item in items:
            yield item, attempt(function, item)

    def share(self, path: str) -> SharedFile:
        """See `Executor.share`."""
        return SharedFile.of(path)


@contextmanager
def in_process() -> Iterator[InProcess]:
    """An executor of this process: see `executor_at`."""
    yield InProcess()
