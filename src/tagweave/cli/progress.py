"""A live line that counts what passes, for input whose end is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

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
