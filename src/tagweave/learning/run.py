"""A run: the schedule, callbacks and cancellation that every training takes, in all its steps.

Callbacks: reports of a running training, after every iteration and within one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar, runtime_checkable

from tagweave.options import value_of
from tagweave.signals import is_ending

Result = TypeVar("Result")

_RESERVED = 0.08  # of the time of a training, for what follows: calibration, the file


class OutOfTime(Exception):  # noqa: N818 - not an error
    """Ends a step that a training can do without."""


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
        self.callback.iteration(replace(iteration, phase=self.name), limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        if isinstance(self.callback, ProgressCallback):
            self.callback.within_iteration(number, share, seconds)


@dataclass(frozen=True)
class Called:
    """Passes every iteration to a function."""

    function: Callable[[Iteration], object]

    def iteration(self, iteration: Iteration, limit: int) -> None:
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


@dataclass(frozen=True)
class Schedule:
    """When training stops, and its checkpoint.

    Attributes:
        iterations: the largest number of iterations; `None`: what the trainer says (`Trainer.iterations`).
        patience: stop after this many iterations without a better development score.
        selects: whether the development score selects the weights and stops training; if not, it is only reported.
        checkpoint: the file that keeps the state (`learning.loop.save_checkpoint`); `None` for none.
        resume: continue from the checkpoint if there is one.
        identity: identifies the training; a checkpoint of another one is refused.
        is_part: whether other steps follow, so that the state at the end is kept, too.
    """

    iterations: int | None = None
    patience: int = 5
    selects: bool = True
    checkpoint: Path | None = None
    resume: bool = False
    identity: str = ""
    is_part: bool = False

    @property
    def can_resume(self) -> bool:
        return self.resume and self.checkpoint is not None and self.checkpoint.exists()

    def of_part(self, part: str) -> Schedule:
        """Return the schedule of a named part of the training, which has its own checkpoint."""
        checkpoint = self.checkpoint and self.checkpoint.with_name(f"{self.checkpoint.name}.{part}")
        return replace(self, checkpoint=checkpoint, identity=f"{self.identity} {part}", is_part=True)


def _ignore(line: str) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Run:
    """The schedule, callbacks and cancellation of a training.

    Every fit takes one. A training of several steps gives each step a part of its run.

    Attributes:
        schedule: when each fit stops, and its checkpoint.
        callback: called after every iteration.
        tell: called with one line of text for every step of the work.
        cancel: called before every batch of sentences; once it returns true (as `threading.Event().is_set` may),
            training ends as after an interrupt (Ctrl-C): it returns the best weights so far and keeps its checkpoint.
            By default, whether a signal asked the process to end.
        clock: the time in seconds.
        deadline: when training is to end, on the clock: the fit under way then returns the best weights so far, and
            what would follow is left out. `None`: when it is done.
        is_optional: whether this is a step that the training can do without, which the deadline ends with `OutOfTime`.
    """

    schedule: Schedule = field(default_factory=Schedule)
    callback: Callback = field(default_factory=Silence)
    tell: Callable[[str], None] = _ignore
    cancel: Callable[[], bool] = is_ending
    clock: Callable[[], float] = perf_counter
    deadline: float | None = None
    is_optional: bool = False

    def limited(self, minutes: float | None) -> Run:
        """Return the run with a deadline, so many minutes from now at most; `None`: without one.

        Raises PlanError for anything but a finite number from 0.
        """
        if minutes is None:
            return self
        minutes = value_of("minutes", minutes, float, 0)
        return replace(self, deadline=self.clock() + 60 * minutes * (1 - _RESERVED))

    def with_share(self, share: float) -> Run:
        """Return the run of a step that gets a share of the time that is left."""
        if self.deadline is None:
            return self
        now = self.clock()
        return replace(self, deadline=now + share * max(0.0, self.deadline - now))

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and self.clock() >= self.deadline

    def if_time(self, step: str, work: Callable[[Run], Result], otherwise: Result, share: float = 1.0) -> Result:
        """Return the result of a step, given its run, if a share of the time that is left suffices for it.

        Otherwise say that the step is left out.
        """
        run = replace(self.with_share(share), is_optional=True) if self.deadline is not None else self
        try:
            if not self.is_over:
                return work(run)
        except OutOfTime:
            pass
        self.tell(f"left out, because time is over: {step}")
        return otherwise

    def part(self, name: str) -> Run:
        """Return the run of a named part of the training, which has a checkpoint of its own."""
        return replace(self, schedule=self.schedule.of_part(name))

    def phase(self, name: str) -> Run:
        """Return the same run; its callback gets the name of the part to which iterations belong."""
        return replace(self, callback=Phase(self.callback, name))

    def without_checkpoint(self) -> Run:
        """Return the run of a step that is repeated when the training is resumed."""
        return replace(self, schedule=replace(self.schedule, checkpoint=None))

    def aside(self, schedule: Schedule | None = None) -> Run:
        """Return the run of a step that reports nothing and is repeated when the training is resumed.

        `schedule` replaces the run's own.
        """
        run = self if schedule is None else replace(self, schedule=schedule)
        return replace(run.without_checkpoint(), callback=Silence(), tell=_ignore)

    def stop_if_cancelled(self) -> None:
        """Raise KeyboardInterrupt if the run is cancelled, OutOfTime if time for an optional step is over."""
        if self.cancel():
            raise KeyboardInterrupt
        if self.is_optional and self.is_over:
            raise OutOfTime

    def stop_if_over(self) -> None:
        """Raise as `stop_if_cancelled`, and OutOfTime if time is over for any step."""
        self.stop_if_cancelled()
        if self.is_over:
            raise OutOfTime

    def finish(self) -> None:
        if self.schedule.checkpoint:
            self.schedule.checkpoint.unlink(missing_ok=True)


SILENT = Run()
"""A run with the default schedule that reports nothing."""
