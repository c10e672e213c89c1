"""The progress of training, shown: a live line on a terminal, plain lines elsewhere, JSON lines in a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tagweave.learning.callback import Callback, Iteration, ProgressCallback

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


_LONG = 10.0  # seconds: of an iteration that takes longer it is told how far it is


@dataclass(frozen=True)
class Callbacks:
    """Tells several callbacks of every iteration, in their order."""

    callbacks: Sequence[Callback]

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Pass it on."""
        for callback in self.callbacks:
            callback.iteration(iteration, limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Pass it on to those who show it."""
        for callback in self.callbacks:
            if isinstance(callback, ProgressCallback):
                callback.within_iteration(number, share, seconds)


@dataclass
class Lines:
    """One plain line an iteration, for streams that are no terminal; more of one that takes long, ever more seldom."""

    stream: IO[str]
    due: float = _LONG

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Write the line, at once."""
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


@dataclass(frozen=True)
class JsonLines:
    """One JSON object an iteration, with the attributes of `Iteration`; what is no number is `null`."""

    stream: IO[str]

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Write the object, at once, so that the file can be followed."""
        self.stream.write(json.dumps(_finite(asdict(iteration))) + "\n")
        self.stream.flush()


@dataclass
class Bar:
    """A line on a terminal, rewritten after every iteration: the bar, loss, scores, and the time that is left."""

    progress: Progress
    task: TaskID
    best: float | None = None

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Move the bar."""
        if iteration.best:
            self.best = iteration.score
        self.progress.update(self.task, completed=iteration.number, total=limit, told=told(iteration, self.best))

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Move the bar within the first iteration, when nothing else is known."""
        if number == 1:
            self.progress.update(self.task, told=f"the first iteration: {100 * share:.0f} %")


def plain_line(iteration: Iteration, limit: int) -> str:
    """The iteration in one line; `*` marks the best development score so far."""
    score = "" if iteration.score is None else f"  dev {iteration.score:.4f}{' *' if iteration.best else ''}"
    phase = f"{iteration.phase}, " if iteration.phase else ""
    return f"{phase}iteration {iteration.number}/{limit}  loss {iteration.loss:.6g}{score}  {iteration.seconds:.1f} s"


def told(iteration: Iteration, best: float | None) -> str:
    """What a live line tells: the loss, the development score and the best one so far."""
    text = f"{iteration.phase}  loss {iteration.loss:.6g}".lstrip()
    if iteration.score is not None:
        text += f"  dev {iteration.score:.4f}"
    return text if best is None else f"{text}  best {best:.4f}"


@contextmanager
def shown(console: Console) -> Iterator[Callback]:
    """A callback that shows training on the console as far as it can: live on a terminal, else line by line."""
    if not console.is_terminal:
        yield Lines(console.file)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        yield Bar(progress, progress.add_task("training", total=None, told="the first iteration ..."))


@contextmanager
def logged(path: Path, resume: bool = False) -> Iterator[Callback]:
    """A callback that writes JSON lines to a file as they come; with `resume` it goes on at the end of the file.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("a" if resume else "w", encoding="utf-8") as stream:
        yield JsonLines(stream)


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values.items()
    }
