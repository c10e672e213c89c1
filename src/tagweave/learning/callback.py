"""Callbacks: reports of a running training, after every iteration and within one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Iteration:
    """The result of one iteration.

    Attributes:
        number: from 1.
        loss: the training loss.
        score: the score on development data, `None` without such data.
        best: whether it is the best score so far.
        seconds: since training began, evaluation included.
        phase: the name of this part of training; "" if there is only one.
    """

    number: int
    loss: float
    score: float | None
    best: bool
    seconds: float
    phase: str = ""


class Callback(Protocol):
    """Shows the progress of training."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Called after every iteration; `limit` is the largest number of iterations."""
        ...


@runtime_checkable
class ProgressCallback(Callback, Protocol):
    """Shows the progress within an iteration as well."""

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Called about every second: iteration `number` has processed this share of the sentences, in `seconds`."""
        ...


@dataclass(frozen=True)
class Phase:
    """Passes the iterations of one part of a training to a callback, with the name of the part."""

    callback: Callback
    name: str

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Pass the iteration on."""
        self.callback.iteration(replace(iteration, phase=self.name), limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Pass the progress on if the callback shows it."""
        if isinstance(self.callback, ProgressCallback):
            self.callback.within_iteration(number, share, seconds)


@dataclass(frozen=True)
class Called:
    """Passes every iteration to a function."""

    function: Callable[[Iteration], object]

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Call the function."""
        self.function(iteration)


def callback_of(given: Any) -> Callback:
    """Return a callback as it is, or one that calls a function.

    Raises:
        TypeError: neither, or a function that does not take one argument.
    """
    expected = "expected a function of one argument, the Iteration, or an object with a method iteration(it, limit)"
    if callable(getattr(given, "iteration", None)) and not isinstance(given, type):
        callback: Callback = given
        return callback
    if not callable(given):
        raise TypeError(f"found {given!r} as the callback, {expected}")
    try:
        signature(given).bind(None)
    except (TypeError, ValueError) as error:  # a ValueError: some built-in functions do not tell their arguments
        if isinstance(error, TypeError):
            raise TypeError(f"found a callback for which {error}, {expected}") from None
    return Called(given)


class Silence:
    """Shows nothing."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Do nothing."""


SILENCE = Silence()
