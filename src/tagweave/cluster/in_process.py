"""The executor of this process: one call after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from tagweave.cluster.executor import Failure, Item, Result, attempt
from tagweave.cluster.group import Arrays, Reply, Resident, nothing
from tagweave.cluster.shared_file import SharedFile


@dataclass(frozen=True)
class InProcess:
    """Calls functions where it is: see `Executor`."""

    workers: int = 1

    def outcomes(
        self, function: Callable[[Item], Result], items: Iterable[Item], ahead: bool = True
    ) -> Generator[tuple[Item, Result | Failure], None, None]:
        """See `Executor.outcomes`."""
        for item in items:
            yield item, attempt(function, item)

    def share(self, file: SharedFile) -> SharedFile:
        """See `Executor.share`."""
        return file

    def hold(self, function: Callable[[Item], object], items: Sequence[Item]) -> AbstractContextManager[InProcessGroup]:
        """See `Executor.hold`."""
        return nullcontext(InProcessGroup([Resident(function, item) for item in items]))


@dataclass(frozen=True)
class InProcessGroup:
    """Objects of this process: see `Group`."""

    residents: Sequence[Resident]

    def __len__(self) -> int:
        return len(self.residents)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """See `Group.call`."""
        for resident in self.residents:
            while_waiting()
            reply = resident.call(method, arrays, plain)
            if isinstance(reply, Failure):
                raise reply.error
            yield reply


IN_PROCESS = InProcess()
"""This process, the default of everything that takes an executor."""
