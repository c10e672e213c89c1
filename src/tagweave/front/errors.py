"""One-line messages for errors that users can fix."""

from __future__ import annotations

from tagweave.corpus.printable import printable


def message(error: BaseException) -> str | None:
    """The line to show for an error in the input, the options or the file system; `None` for a bug of this package.

    The exceptions that this package defines are written for its users. Of the others, only those of the operating
    system describe something that users can fix.
    """
    if isinstance(error, ValueError) and type(error).__module__.split(".")[0] == "tagweave":
        return _one_line(str(error))
    if isinstance(error, OSError):
        return _one_line(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return None


def _one_line(text: str) -> str:
    return printable(" ".join(text.split("\n")))
