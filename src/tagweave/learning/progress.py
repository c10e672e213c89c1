"""Displays of training progress: a live line on a terminal, plain lines elsewhere, JSON lines in a file."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tagweave.learning.run import Callback, Iteration, ProgressCallback

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


_LONG = 10.0  # seconds after which an iteration reports its progress


@dataclass(frozen=True)
class Callbacks:
    """Passes every iteration to several callbacks, in order."""

    callbacks: Sequence[Callback]

    def iteration(self, iteration: Iteration, limit: int) -> None:
        for callback in self.callbacks:
            callback.iteration(iteration, limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        for callback in self.callbacks:
            if isinstance(callback, ProgressCallback):
                callback.within_iteration(number, share, seconds)


@dataclass
class Lines:
    """One plain line per iteration, for streams other than terminals; more, at growing intervals, for a long one."""

    stream: IO[str]
    due: float = _LONG

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self._write(plain_line(iteration, limit))
        self.due = _LONG

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Write a line after ten seconds, twenty, forty ..."""
        if seconds >= self.due:
            self._write(f"{100 * share:.0f} % of iteration {number} after {seconds:.0f} s")
            self.due = 2 * seconds

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()


@dataclass
class JsonLines:
    """One JSON object per iteration, with the attributes of `Iteration`; `null` for a value that is not finite.

    If it cannot be written, that is told once, and training goes on.
    """

    stream: IO[str]
    failed: bool = False

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Write and flush the object, so that the file can be followed."""
        values = asdict(iteration)
        for name, value in values.items():
            if isinstance(value, float) and not math.isfinite(value):
                values[name] = None
        try:
            self.stream.write(json.dumps(values) + "\n")
            self.stream.flush()
        except OSError as error:  # a full disk
            if not self.failed:
                print(f"warning: no log: {error.strerror} ({self.stream.name})", file=sys.stderr)
            self.failed = True


@dataclass
class Bar:
    """A line on a terminal, rewritten after every iteration: the bar, loss, scores and the remaining time."""

    progress: Progress
    task: TaskID
    best: float | None = None

    def iteration(self, iteration: Iteration, limit: int) -> None:
        if iteration.best:
            self.best = iteration.score
        self.progress.update(self.task, completed=iteration.number, total=limit, status=status(iteration, self.best))

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Show progress within the first iteration, before there is a loss to show."""
        if number == 1:
            self.progress.update(self.task, status=f"the first iteration: {100 * share:.0f} %")


def plain_line(iteration: Iteration, limit: int) -> str:
    """Return the iteration in one line; `*` marks the best development score so far."""
    score = "" if iteration.score is None else f"  dev {iteration.score:.4f}{' *' if iteration.best else ''}"
    phase = f"{iteration.phase}, " if iteration.phase else ""
    return f"{phase}iteration {iteration.number}/{limit}  loss {iteration.loss:.6g}{score}  {iteration.seconds:.1f} s"


def status(iteration: Iteration, best: float | None) -> str:
    """Return the text of a live line: the loss, the development score and the best score so far."""
    text = f"{iteration.phase}  loss {iteration.loss:.6g}".lstrip()
    if iteration.score is not None:
        text += f"  dev {iteration.score:.4f}"
    return text if best is None else f"{text}  best {best:.4f}"


@contextmanager
def console_callback(console: Console) -> Iterator[Callback]:
    """A callback that shows training on the console: live on a terminal, otherwise line by line."""
    if not console.is_terminal:
        yield Lines(console.file)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[status]}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        yield Bar(progress, progress.add_task("training", total=None, status="the first iteration ..."))


@contextmanager
def log_callback(path: Path, resume: bool = False) -> Iterator[Callback]:
    """A callback that writes JSON lines to a file; with `resume` it appends."""
    stream = path.open("a" if resume else "w", encoding="utf-8")
    try:
        yield JsonLines(stream)
    finally:
        with suppress(OSError):  # what could not be written
            stream.close()
