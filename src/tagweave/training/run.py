"""A run: what travels along a training, whatever is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tagweave.learning.loop import Callback, Schedule, Silence


def _tell_nobody(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Run:
    """When training stops, what it leaves behind, and who is told of it.

    Attributes:
        schedule: when each fit stops, and its checkpoint.
        callback: is told of every iteration.
        tell: is told, line by line, what is being done.
    """

    schedule: Schedule = field(default_factory=Schedule)
    callback: Callback = field(default_factory=Silence)
    tell: Callable[[str], None] = _tell_nobody

    def part(self, name: str) -> Run:
        """The run of a named part of the training, which has a checkpoint of its own."""
        return replace(self, schedule=self.schedule.of_part(name))
