"""What is told of a training while it goes on: its iterations, and how far the present one is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Iteration:
    """What one iteration came to.

    Attributes:
        number: from 1.
        loss: the training loss.
        score: the score on development data, `None` without any.
        best: whether it is the best score so far.
        seconds: since training began, evaluation included.
        phase: the name of the part of a training of several; "" where it is the only one.
    """

    number: int
    loss: float
    score: float | None
    best: bool
    seconds: float
    phase: str = ""


class Callback(Protocol):
    """Whoever shows the progress of training."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Called after every iteration; `limit` is the largest number of iterations."""
        ...


@runtime_checkable
class ProgressCallback(Callback, Protocol):
    """Whoever shows how far an iteration is, too."""

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Called about every second: which share of the sentences iteration `number` has seen, after so many
        seconds."""
        ...


@dataclass(frozen=True)
class Phase:
    """Tells a callback of the iterations of one part of a training, under the name of that part."""

    callback: Callback
    name: str

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Pass it on."""
        self.callback.iteration(replace(iteration, phase=self.name), limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Pass it on to whoever shows it."""
        if isinstance(self.callback, ProgressCallback):
            self.callback.within_iteration(number, share, seconds)


class Silence:
    """Shows nothing."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Do nothing."""


SILENCE = Silence()
