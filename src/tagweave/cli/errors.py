"""What the command line says where something is wrong: one line, for errors that are the user's to mend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tagweave.corpus.printable import printable

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


def message(error: BaseException) -> str | None:
    """The line to show for an error of the input, the options or the file system; `None`: it is a defect of ours.

    The exceptions that this package defines are written for its users. Of the others, only those of the operating
    system say something that users can mend.
    """
    if isinstance(error, ValueError) and type(error).__module__.split(".")[0] == "tagweave":
        return _one_line(str(error))
    if isinstance(error, OSError):
        return _one_line(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return None


def _one_line(text: str) -> str:
    return printable(" ".join(text.split("\n")))
