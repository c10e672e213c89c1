"""A run: what travels along a training, whatever is trained and in however many steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tagweave.learning.callback import Callback, Phase, Silence


@dataclass(frozen=True)
class Schedule:
    """When training stops, and what it leaves behind.

    Attributes:
        iterations: the largest number of iterations; `None`: 100 with development data, else as many as usually
            suffice for the trainer.
        patience: stop after so many iterations without a better development score.
        checkpoint: where the state is kept after every iteration; `None` keeps none.
        resume: go on from the checkpoint if there is one.
        identity: what identifies the training; a checkpoint of another one is refused.
    """

    iterations: int | None = None
    patience: int = 5
    checkpoint: Path | None = None
    resume: bool = False
    identity: str = ""

    @property
    def can_resume(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return self.resume and self.checkpoint is not None and self.checkpoint.exists()

    def of_part(self, part: str) -> Schedule:
        """The schedule of a named part of the training, which has its own checkpoint."""
        checkpoint = self.checkpoint and self.checkpoint.with_name(f"{self.checkpoint.name}.{part}")
        return replace(self, checkpoint=checkpoint, identity=f"{self.identity} {part}")


def _tell_nobody(line: str) -> None:
    """Say nothing."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Run:
    """When a training stops, what it leaves behind, who is told of it, and who may stop it.

    Every fit takes one. A training of several steps gives each step a part of its run.

    Attributes:
        schedule: when each fit stops, and its checkpoint.
        callback: is told of every iteration.
        tell: is told, line by line, what is being done.
        cancel: is asked before every batch of sentences; once it says yes (`threading.Event().is_set`, say), training
            ends as an interrupt (Ctrl-C) ends it: with the best weights so far, and its checkpoint kept.
    """

    schedule: Schedule = field(default_factory=Schedule)
    callback: Callback = field(default_factory=Silence)
    tell: Callable[[str], None] = _tell_nobody
    cancel: Callable[[], bool] = _never

    @property
    def can_be_cancelled(self) -> bool:
        """Whether there is anybody to ask."""
        return self.cancel is not _never

    def part(self, name: str) -> Run:
        """The run of a named part of the training, which has a checkpoint of its own."""
        return replace(self, schedule=self.schedule.of_part(name))

    def phase(self, name: str) -> Run:
        """The same run, whose callback is told the name of the part to which iterations belong."""
        return replace(self, callback=Phase(self.callback, name))

    def without_checkpoint(self) -> Run:
        """The run of a step that is done again when the training is resumed."""
        return replace(self, schedule=replace(self.schedule, checkpoint=None))

    def aside(self, schedule: Schedule | None = None) -> Run:
        """The run of a step of which nobody is told, and that is done again when the training is resumed.

        `schedule` takes the place of the run's own.
        """
        given = self if schedule is None else replace(self, schedule=schedule)
        return replace(given.without_checkpoint(), callback=Silence(), tell=_tell_nobody)

    def stop_if_cancelled(self) -> None:
        """Ask whether to go on.

        Raises:
            KeyboardInterrupt: no.
        """
        if self.cancel():
            raise KeyboardInterrupt

    def finish(self) -> None:
        """Remove the checkpoint, which nothing needs any more."""
        if self.schedule.checkpoint:
            self.schedule.checkpoint.unlink(missing_ok=True)


SILENT = Run()
"""The run of a training that nobody follows, as long as usual."""
