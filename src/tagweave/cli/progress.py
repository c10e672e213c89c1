"""Progress of long work: a line that counts items, and the iterations of training."""

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
def training_callback(log: str | None, resume: bool) -> Iterator[Callback]:
    """A callback that reports iterations on standard error and in a log, which a resumed run continues."""
    from rich.console import Console as StandardConsole

    from tagweave.learning.progress import Callbacks, console_callback, log_callback

    with ExitStack() as stack:
        callbacks = [stack.enter_context(log_callback(Path(log), resume))] if log else []
        callbacks.append(stack.enter_context(console_callback(StandardConsole(stderr=True))))
        yield Callbacks(callbacks)
