"""Errors that users can fix. All derive from `TagweaveError`; errors that only one module raises are defined there.

Messages say `found ..., expected ...`, and are never long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

_SHOWN = 160  # characters of a quotation
_MESSAGE = 1000  # characters of a message


class TagweaveError(ValueError):
    """An error that users can fix. A long message, which quotes what they gave, is shortened in the middle."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, _MESSAGE))


class CorpusError(TagweaveError):
    """A corpus file or sentence that is not valid, with its place: `path:line: found ..., expected ...`."""

    def __init__(self, found: str, expected: str, path: str = "", line: int = 0) -> None:
        self.found, self.expected = shortened(found), shortened(expected, 2 * _SHOWN)
        self.path, self.line = shortened(path, 2 * _SHOWN), line
        location = f"{self.path or 'sentence'}:{line}: " if line else f"{self.path}: " if path else ""
        super().__init__(f"{location}found {self.found}, expected {self.expected}")

    def at(self, path: str, line: int = 0) -> CorpusError:
        """Return the same error at another place."""
        return CorpusError(self.found, self.expected, path, line)

    def __reduce__(self) -> tuple[type[CorpusError], tuple[str, str, str, int]]:
        """Let the error travel between processes."""
        return type(self), (self.found, self.expected, self.path, self.line)


class ExchangeError(TagweaveError):
    """An unknown annotation tool or tokeniser."""


class SourceError(TagweaveError):
    """Sources that cannot be combined, or not in the requested way."""


class ManyFilesError(TagweaveError):
    """Files that cannot be listed, or not all be finished, or a cluster that cannot be reached."""


class StreamError(TagweaveError):
    """A model, input, output and options that do not go together."""


class PipelineError(TagweaveError):
    """A model or an option that does not fit a pipeline."""


class PlanError(TagweaveError):
    """A plan that cannot be carried out: unknown or incompatible values, or unsuitable corpora."""


class ServeError(TagweaveError):
    """Models that cannot be served together, or an option that does not fit."""


class RequestError(TagweaveError):
    """An HTTP request that cannot be answered, and the HTTP status to say so."""

    def __init__(self, reason: str, status: int = 422) -> None:
        super().__init__(reason)
        self.status = status


@contextmanager
def as_plan_error() -> Iterator[None]:
    """Raise a `ValueError` from a check of plan values as a `PlanError`."""
    try:
        yield
    except ValueError as error:
        raise PlanError(str(error)) from error


def one_of(name: object, known: Iterable[str]) -> str:
    """Name the expected values in place of an unknown one: the nearest known name first, if one is near."""
    names = list(known)
    near = get_close_matches(str(name), names, 1)
    return f"{f'{near[0]!r}, or ' if near else ''}one of {', '.join(names)}"


def is_for_users(error: BaseException) -> bool:
    """Return whether users can fix an error: this package or the operating system raises it on purpose."""
    return isinstance(error, TagweaveError | OSError)


def shortened(text: str, most: int = _SHOWN) -> str:
    """Return the beginning and the end of a long text: a line may have megabytes."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 + 3 :]}"
