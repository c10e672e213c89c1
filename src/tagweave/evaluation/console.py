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
    """Standard output or error; in a pipe or a file `width` characters wide, by default enough to cut no name."""
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


def tables_as_html(render: Callable[[Console], None]) -> str:
    """What a function prints, as a picture for notebooks, where a console would make every line a picture."""
    from tagweave.display.markup import element, picture

    return picture(element("pre", tables_as_text(render, _NOTEBOOK)))
