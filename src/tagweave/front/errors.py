"""Errors that users can fix: their messages in one line, and misspelt options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from tagweave.corpus.errors import is_for_users, one_of, shortened
from tagweave.corpus.printable import printable

Options = TypeVar("Options")
_LONGEST = 2000  # characters, also of errors of the system


def message(error: BaseException) -> str | None:
    """The line to show for an error in the input, the options or the file system; `None` for a bug of this package."""
    if not is_for_users(error):
        return None
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _one_line(f"{error.filename}: {error.strerror}")
    return _one_line(str(error))


def _one_line(text: str) -> str:
    return printable(" ".join(shortened(text, _LONGEST).split("\n")))


def check_names(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise unless a function has all the options that it was given.

    Raises:
        TypeError: it has not; the message names the nearest option.
    """
    names = list(known)
    for name in given:
        if name not in names:
            raise TypeError(f"{function}() has no option {name!r}, expected {one_of(name, names)}")


def options_of(kind: type[Options], function: str, given: Mapping[str, Any]) -> Options:
    """Return the options of a function, which are the fields of a dataclass. Raises as `check_names`, and the class."""
    check_names(function, given, [each.name for each in fields(kind)])  # type: ignore[arg-type]
    return kind(**given)
