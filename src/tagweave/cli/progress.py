"""What is seen of work that takes its time: a line that counts what passes, and the iterations of training."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from tagweave.learning.callback import Callback

Item = TypeVar("Item")


def counted(items: Iterable[Item], what: str, console: Console | None = None) -> Iterator[Item]:
    """The items, counted on standard error while they pass, if that is a terminal; the line goes at the end."""
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
def watched(log: str | None, goes_on: bool) -> Iterator[Callback]:
    """What shows the iterations of training, on standard error and in a log, which goes on if the run does."""
    from rich.console import Console as StandardConsole

    from tagweave.learning.progress import Callbacks, console_callback, log_callback

    with ExitStack() as stack:
        callbacks = [stack.enter_context(log_callback(Path(log), goes_on))] if log else []
        callbacks.append(stack.enter_context(console_callback(StandardConsole(stderr=True))))
        yield Callbacks(callbacks)
