"""Progress of long work: a line that counts items, and the iterations of training."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tagweave.cli.printing import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console

    from tagweave.learning.callback import Callback
    from tagweave.tuning.study import Trial

Item = TypeVar("Item")


def counted(items: Iterable[Item], what: str, console: Console | None = None) -> Iterator[Item]:
    """Pass items on, and count them on standard error if that is a terminal; the line disappears at the end."""
    from rich.console import Console as StandardConsole
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = console or StandardConsole(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        for item in items:
            yield item
            progress.advance(task)


@contextmanager
def progress_bar(what: str, console: Console | None = None) -> Iterator[Callable[[int, int], None]]:
    """A function that is told how many of how many items are done: a bar on standard error, if that is a terminal."""
    from rich.console import Console as StandardConsole
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = console or StandardConsole(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn(what), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def status_line(what: str, console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """A function that shows where the work stands: a line on standard error, if that is a terminal."""
    from rich.console import Console as StandardConsole

    console = console or StandardConsole(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status(what) as status:
        yield lambda line: status.update(f"{what}: {line}")


@contextmanager
def training_callback(log: str | None, resume: bool) -> Iterator[Callback]:
    """A callback that reports iterations on standard error and in a log, which a resumed run continues."""
    from rich.console import Console as StandardConsole

    from tagweave.learning.progress import Callbacks, console_callback, log_callback

    with ExitStack() as stack:
        callbacks = [stack.enter_context(log_callback(Path(log), resume))] if log else []
        callbacks.append(stack.enter_context(console_callback(StandardConsole(stderr=True))))
        yield Callbacks(callbacks)


@contextmanager
def trial_progress(trials: int, console: Console | None = None) -> Iterator[Callable[[Trial], None]]:
    """A function that reports a finished trial on standard error: a line, and on a terminal a bar below the lines."""
    from rich.console import Console as StandardConsole
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tagweave.tuning.table import line

    console = console or StandardConsole(stderr=True)
    if not console.is_terminal:
        yield lambda trial: say(line(trial, trials))
        return
    columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[status]}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("tuning", total=trials, status="the plan itself ...")
        best: Trial | None = None

        def finished(trial: Trial) -> None:
            nonlocal best
            if trial.state == "complete" and (best is None or (trial.score or 0.0) > (best.score or 0.0)):
                best = trial
            progress.console.print(line(trial, trials), markup=False, highlight=False)
            status = "" if best is None else f"best {best.score:.4f} of trial {best.number}"
            progress.update(task, completed=trial.number + 1, status=status)

        yield finished
