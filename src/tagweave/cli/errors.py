"""Errors of the command line: exit codes, and one line for errors that users can fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from tagweave.corpus.errors import InputError
from tagweave.front.errors import message

__all__ = ["BROKEN_PIPE", "INTERRUPTED", "USAGE", "OptionError", "as_option_error", "in_flags", "message"]

_FIELD = re.compile(r"`([a-z][a-z_]*)(?:=([^`]*))?`")
_FLAGS = {
    "sources": "source",
    "settings": "set",
    "lexicons": "lexicon",
    "gazetteers": "gazetteer",
    "weights": "features",
    "minimum_count": "min-count",
    "elsewhere": "else",
}
"""Options that the command line calls otherwise than Python calls the field."""

USAGE = 2
"""The exit code for wrong input or options."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The exit code if the reader of the output has closed it, as in shells: 128 + SIGPIPE."""


def in_flags(text: str, known: Callable[[], Container[str]] | None = None) -> str:
    """Return a message of the library, which names fields, for the command line: `top_k=3` becomes --top-k 3.

    Args:
        text: the message.
        known: gives the flags that there are; other fields, as those of a plan, stay as they are. By default all are.
    """

    def flag(match: re.Match[str]) -> str:
        name, value = match.groups()
        found = f"--{_FLAGS.get(name, name).replace('_', '-')}"
        if known is not None and found not in known():
            return match.group()
        return found if value is None else f"{found} {value}"

    return _FIELD.sub(flag, text)


class OptionError(InputError):
    """An option or argument with a wrong value."""


@contextmanager
def as_option_error() -> Iterator[None]:
    """Raise a `ValueError` from a check of option values as an `OptionError`."""
    try:
        yield
    except ValueError as error:
        raise OptionError(str(error)) from error
