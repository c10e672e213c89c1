"""Standard output for tables: as wide as the terminal, or without one as wide as the tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 1000  # characters, wider than any table


def table_console(width: int = _WIDE) -> Console:
    """Standard output; in a pipe or a file `width` characters wide, by default enough to cut no name in a table."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=width)
