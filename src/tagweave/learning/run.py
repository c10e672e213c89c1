"""A run: the schedule, callbacks and cancellation that every training takes, in all its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from tagweave.cluster.executor import Executor
from tagweave.cluster.in_process import IN_PROCESS
from tagweave.learning.callback import Callback, Phase, Silence


@dataclass(frozen=True)
class Schedule:
    """When training stops, and its checkpoint.

    Attributes:
        iterations: the largest number of iterations; `None`: 100 with development data, else the trainer's `epochs`.
        patience: stop after this many iterations without a better development score.
        selects: whether the development score selects the weights and stops training; if not, it is only reported.
        checkpoint: the file that keeps the state (`learning.checkpoint`); `None` for none.
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
        """Whether there is a checkpoint to resume from."""
        return self.resume and self.checkpoint is not None and self.checkpoint.exists()

    def of_part(self, part: str) -> Schedule:
        """The schedule of a named part of the training, which has its own checkpoint."""
        checkpoint = self.checkpoint and self.checkpoint.with_name(f"{self.checkpoint.name}.{part}")
        return replace(self, checkpoint=checkpoint, identity=f"{self.identity} {part}", is_part=True)


def _ignore(line: str) -> None:
    """Do nothing."""


def _never() -> bool:
    return False


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
        executor: carries out parts that do not depend on each other, such as the folds of a jackknife; their results
            are the same wherever they run.
        clock: the time in seconds.
    """

    schedule: Schedule = field(default_factory=Schedule)
    callback: Callback = field(default_factory=Silence)
    tell: Callable[[str], None] = _ignore
    cancel: Callable[[], bool] = _never
    executor: Executor = IN_PROCESS
    clock: Callable[[], float] = perf_counter

    @property
    def can_be_cancelled(self) -> bool:
        """Whether `cancel` was given."""
        return self.cancel is not _never

    def part(self, name: str) -> Run:
        """The run of a named part of the training, which has a checkpoint of its own."""
        return replace(self, schedule=self.schedule.of_part(name))

    def phase(self, name: str) -> Run:
        """The same run; its callback gets the name of the part to which iterations belong."""
        return replace(self, callback=Phase(self.callback, name))

    def without_checkpoint(self) -> Run:
        """The run of a step that is repeated when the training is resumed."""
        return replace(self, schedule=replace(self.schedule, checkpoint=None))

    def aside(self, schedule: Schedule | None = None) -> Run:
        """The run of a step that reports nothing and is repeated when the training is resumed.

        `schedule` replaces the run's own.
        """
        run = self if schedule is None else replace(self, schedule=schedule)
        return replace(run.without_checkpoint(), callback=Silence(), tell=_ignore)

    def task(self) -> Run:
        """The run of a step that the executor carries out; `cancel` reaches it only in this process."""
        aside = self.aside()
        return aside if self.executor is IN_PROCESS else Run(aside.schedule)

    def stop_if_cancelled(self) -> None:
        """Raise if the run is cancelled.

        Raises:
            KeyboardInterrupt: it is.
        """
        if self.cancel():
            raise KeyboardInterrupt

    def finish(self) -> None:
        """Remove the checkpoint."""
        if self.schedule.checkpoint:
            self.schedule.checkpoint.unlink(missing_ok=True)


SILENT = Run()
"""A run with the default schedule that reports nothing."""
