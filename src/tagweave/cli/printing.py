"""Lines of the command line, which may quote files: nothing in them moves the cursor of a terminal."""

from __future__ import annotations

import typer

from tagweave.corpus.printable import printable
from tagweave.streams.notes import say

__all__ = ["say", "show"]


def show(line: str) -> None:
    """A line on standard output."""
    typer.echo(printable(line))
