"""Prints lines that may quote files, with control characters escaped."""

from __future__ import annotations

from tagweave.corpus.printable import printable
from tagweave.streams.notes import say

__all__ = ["say", "show"]


def show(line: str) -> None:
    """Print a line on standard output; unlike `typer.echo`, in its encoding, whichever that is."""
    print(printable(line))
