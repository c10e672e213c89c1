"""Errors of the command line: exit codes, and one line for errors that users can fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tagweave.corpus.errors import InputError
from tagweave.front.errors import message

__all__ = ["BROKEN_PIPE", "INTERRUPTED", "USAGE", "OptionError", "as_option_error", "message"]

USAGE = 2
"""The exit code for wrong input or options."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The exit code if the reader of the output has closed it, as in shells: 128 + SIGPIPE."""


class OptionError(InputError):
    """An option or argument with a wrong value."""


@contextmanager
def as_option_error() -> Iterator[None]:
    """Raise a `ValueError` from a check of option values as an `OptionError`."""
    try:
        yield
    except ValueError as error:
        raise OptionError(str(error)) from error
