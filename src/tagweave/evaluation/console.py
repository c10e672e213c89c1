"""Standard output for tables: as wide as the terminal, or without one as wide as the tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

_WIDE = 1000  # characters, wider than any table
_NOTEBOOK = 110


def table_console(width: int = _WIDE, stderr: bool = False) -> Console:
    """Return standard output or error; in a pipe or a file, `width` characters wide."""
    from rich.console import Console

    console = Console(stderr=stderr)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=width, stderr=stderr)


def tables_as_text(render: Callable[[Console], None], width: int = _WIDE) -> str:
    """Return what a function prints on a console."""
    from io import StringIO

    from rich.console import Console as StandardConsole

    stream = StringIO()
    render(StandardConsole(file=stream, width=width, force_jupyter=False, force_terminal=False, color_system=None))
    return stream.getvalue().rstrip("\n")


class Printed:
    """A result that prints tables on a console."""

    __slots__ = ()

    def render(self, console: Console | None = None) -> None:
        """Print the tables, by default on standard output."""
        raise NotImplementedError

    def __str__(self) -> str:
        return tables_as_text(self.render)

    def _repr_html_(self) -> str:
        """Return the tables for a notebook as one picture; a console would make every line a picture."""
        from tagweave.display.markup import element, picture

        return picture(element("pre", tables_as_text(self.render, _NOTEBOOK)))
