"""Standard output for tables: as wide as a terminal, or as the tables are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 1000  # characters: no table is as wide


def table_console() -> Console:
    """Standard output; in a pipe or a file, where no line has an end, no name in a table is cut."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=_WIDE)
