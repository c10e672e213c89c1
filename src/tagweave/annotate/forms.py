"""The fields of a form or a query, as text that both databases accept."""

from __future__ import annotations

import math
from urllib.parse import parse_qsl

from tagweave.annotate.task import Answer, Kind, label

LONGEST = 65_536
"""Bytes of a form."""
_MOST = 300  # fields
_LABEL = "label "


class FieldError(ValueError):
    """A field that none of our pages sends."""


class Fields(dict[str, str]):
    """Fields by name; the last one of those with the same name. Missing fields are empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number from 0.

        Raises:
            FieldError: anything else; also an empty field, if there is no default.
        """
        text = self[name]
        if not text and default is not None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise FieldError(f"found {name} {text[:50]!r}, expected a number")
        return int(text)

    def time(self, name: str) -> float | None:
        """Seconds since 1970; `None` if the field is empty.

        Raises:
            FieldError: anything else.
        """
        text = self[name]
        if not text:
            return None
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds):
            raise FieldError(f"found {name} {text[:50]!r}, expected a time")
        return seconds

    def answer(self, name: str = "answer") -> Answer:
        """An answer as buttons send it: `label NAME`, or the value of another kind.

        Raises:
            FieldError: anything else.
        """
        text = self[name]
        try:
            return label(text[len(_LABEL) :]) if text.startswith(_LABEL) else Answer(Kind(text))
        except ValueError:
            raise FieldError(f"found the answer {text[:50]!r}, expected a label or one of the other keys") from None


def parse(encoded: bytes) -> Fields:
    """The fields of an encoded form or query.

    Raises:
        FieldError: not UTF-8, a NUL character, or too many fields.
    """
    try:
        pairs = parse_qsl(encoded.decode("ascii"), True, max_num_fields=_MOST, errors="strict")
    except ValueError as error:
        raise FieldError("found no form, expected one in UTF-8") from error
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise FieldError("found a NUL character, expected text")
    return Fields(pairs)
