"""Text from files made safe for a terminal: characters that move the cursor, colour or reorder are escaped."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with control characters (except tabs), direction marks and halves of surrogate pairs escaped."""
    return _CONTROL.sub(_escape, text)


def printable_lines(text: str) -> str:
    """`printable`, applied to every line of a text."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")
