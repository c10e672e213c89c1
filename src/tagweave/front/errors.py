"""One-line messages for errors that users can fix."""

from __future__ import annotations

from tagweave.corpus.errors import is_for_users, shortened
from tagweave.corpus.printable import printable

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
