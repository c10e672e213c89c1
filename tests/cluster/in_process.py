"""An executor without workers, whose groups are objects of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tagweave.cluster.group import Arrays, Group, Reply, nothing
from tagweave.cluster.shared_file import SharedFile


class InProcess:
    """See `Executor`."""

    workers = 1

    def outcomes(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for item in items:
            yield item, function(item)

    def share(self, file: SharedFile) -> SharedFile:
        return file

    @contextmanager
    def hold(self, function: Callable[[Any], object], items: Sequence[Any]) -> Iterator[Group]:
        yield Held([function(item) for item in items])


class Held:
    """See `Group`."""

    def __init__(self, objects: list[Any]) -> None:
        self.objects = objects

    def __len__(self) -> int:
        return len(self.objects)

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        for each in self.objects:
            while_waiting()
            yield getattr(each, method)(arrays, *plain)
