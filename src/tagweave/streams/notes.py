"""Notes of a stream: lines about assumptions and omissions."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tagweave.corpus.printable import printable

Tell = Callable[[str], None]
"""Receives a note."""


def say(line: str) -> None:
    """Print a line on standard error. It may quote files, so control characters are escaped."""
    print(printable(line), file=sys.stderr)
