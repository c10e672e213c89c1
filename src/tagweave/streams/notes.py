"""Notes of a stream: lines that say what was assumed, or left out."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tagweave.corpus.printable import printable

Tell = Callable[[str], None]
"""Takes a note."""


def say(line: str) -> None:
    """A line on standard error, which may quote files: nothing in it moves the cursor of a terminal."""
    print(printable(line), file=sys.stderr)
