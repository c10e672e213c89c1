"""The fields of a form or a query, as text that both databases take."""

from __future__ import annotations

import math
from urllib.parse import parse_qsl

from tagweave.annotate.task import Answer, Kind, label

_MOST = 300  # fields
_LABEL = "label "


class FieldError(ValueError):
    """A field that no page of ours sends."""


class Fields(dict[str, str]):
    """Fields by name; of several of one name the last. What is missing is empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number from 0.

        Raises:
            FieldError: something else; nothing at all, where there is no default.
        """
        found = self[name]
        if not found and default is not None:
            return default
        if not (found.isascii() and found.isdigit() and len(found) < 10):
            raise FieldError(f"found {name} {found[:50]!r}, expected a number")
        return int(found)

    def time(self, name: str) -> float | None:
        """Seconds since 1970; `None` where there are none.

        Raises:
            FieldError: something else.
        """
        try:
            found = float(self[name] or math.inf)
        except ValueError:
            found = math.nan
        if self[name] and not math.isfinite(found):
            raise FieldError(f"found {name} {self[name][:50]!r}, expected a time")
        return found if self[name] else None

    def answer(self, name: str = "answer") -> Answer:
        """An answer, as `written` writes it.

        Raises:
            FieldError: something else.
        """
        found = self[name]
        try:
            return label(found[len(_LABEL) :]) if found.startswith(_LABEL) else Answer(Kind(found))
        except ValueError:
            raise FieldError(f"found the answer {found[:50]!r}, expected a label or one of the other keys") from None


def written(answer: Answer) -> str:
    """The value of a button that gives this answer."""
    return f"{_LABEL}{answer.label}" if answer.kind is Kind.LABEL else answer.kind.value


def parse(encoded: bytes) -> Fields:
    """The fields of an encoded form or query.

    Raises:
        FieldError: no UTF-8, a NUL, or too many fields.
    """
    try:
        pairs = parse_qsl(encoded.decode("ascii"), True, max_num_fields=_MOST, errors="strict")
    except ValueError as error:
        raise FieldError("found no form, expected one in UTF-8") from error
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise FieldError("found a NUL character, expected text")
    return Fields(pairs)
