"""What the command line says where something is wrong: one line, for errors that are the user's to mend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tagweave.front.errors import message

__all__ = ["BROKEN_PIPE", "INTERRUPTED", "USAGE", "OptionError", "as_option_error", "message"]

USAGE = 2
"""The exit code of a command whose input or options are wrong."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The exit code where the reader of the output has gone, as shells have it: 128 + SIGPIPE."""


class OptionError(ValueError):
    """An option or an argument that cannot be what it is."""


@contextmanager
def as_option_error() -> Iterator[None]:
    """Where values of options are checked below the command line: a `ValueError` is the user's, and says so."""
    try:
        yield
    except ValueError as error:
        raise OptionError(str(error)) from error
