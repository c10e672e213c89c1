"""Errors in what users gave, with messages that let their reader correct it, and that are never long."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 160  # characters of a quotation
_MESSAGE = 1000  # characters of a message


class InputError(ValueError):
    """An error that users can fix. Its message quotes what they gave, so a long one is shortened in the middle."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, _MESSAGE))


class CorpusError(InputError):
    """A corpus file or a sentence that is not valid.

    The message gives the location (`path:line`), what was found there, and what was expected.
    """

    def __init__(self, found: str, expected: str, path: str = "", line: int = 0) -> None:
        self.found, self.expected = shortened(found), shortened(expected, 2 * _SHOWN)
        self.path, self.line = shortened(path, 2 * _SHOWN), line
        location = f"{self.path or 'sentence'}:{line}: " if line else f"{self.path}: " if path else ""
        super().__init__(f"{location}found {self.found}, expected {self.expected}")

    def __reduce__(self) -> tuple[type[CorpusError], tuple[str, str, str, int]]:
        """How the error travels between processes."""
        return type(self), (self.found, self.expected, self.path, self.line)


def one_of(name: object, known: Iterable[str]) -> str:
    """Return what a message about an unknown name expects: the nearest known one first, if one is near."""
    names = list(known)
    near = get_close_matches(str(name), names, 1)
    return f"{f'{near[0]!r}, or ' if near else ''}one of {', '.join(names)}"


def is_for_users(error: BaseException) -> bool:
    """Whether an error describes something that users can fix, rather than a bug of this package.

    The exceptions that this package defines are written for its users. Of the others, only those of the operating
    system are.
    """
    is_own = isinstance(error, ValueError) and type(error).__module__.split(".")[0] == "tagweave"
    return is_own or isinstance(error, OSError)


def shortened(text: str, most: int = _SHOWN) -> str:
    """Return the beginning and the end of a long text: a line may have megabytes."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 + 3 :]}"
