"""Errors in a corpus, with messages that let their reader correct the file."""

from __future__ import annotations

_SHOWN = 160  # characters of a quotation


class CorpusError(ValueError):
    """A corpus file or a sentence that is not valid.

    The message gives the location (`path:line`), what was found there (shortened in the middle if it is long), and what
    was expected.
    """

    def __init__(self, found: str, expected: str, path: str = "", line: int = 0) -> None:
        self.found, self.expected, self.path, self.line = found, expected, path, line
        location = f"{path or 'sentence'}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(f"{location}found {_shortened(found)}, expected {expected}")

    def __reduce__(self) -> tuple[type[CorpusError], tuple[str, str, str, int]]:
        """How the error travels between processes."""
        return type(self), (self.found, self.expected, self.path, self.line)


def is_for_users(error: BaseException) -> bool:
    """Whether an error describes something that users can fix, rather than a bug of this package.

    The exceptions that this package defines are written for its users. Of the others, only those of the operating
    system are.
    """
    is_own = isinstance(error, ValueError) and type(error).__module__.split(".")[0] == "tagweave"
    return is_own or isinstance(error, OSError)


def _shortened(found: str) -> str:
    """The beginning and the end of a long text: a line may have megabytes."""
    half = _SHOWN // 2
    return found if len(found) <= _SHOWN else f"{found[:half]} … {found[-half:]}"
