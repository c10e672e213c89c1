"""Backslash escapes for the special characters of a format.

A backslash escapes a special character of the format or another backslash. Before anything else it is an ordinary
character, so that files with backslashes of their own (`\\*` in the Penn Treebank) stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache
def _patterns(special: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    one = "[" + re.escape(special + "\\") + "]"
    return re.compile(rf"\\(?={one}|\Z)|[{re.escape(special)}]"), re.compile(rf"\\({one})")


def escape(text: str, special: str) -> str:
    """The text with each of the `special` characters escaped; `unescape` gives the text back."""
    return _patterns(special)[0].sub(r"\\\g<0>", text)


def unescape(text: str, special: str) -> str:
    """The text with the escapes of `special` characters and of backslashes resolved."""
    return _patterns(special)[1].sub(r"\1", text) if "\\" in text else text


def is_escaped(text: str, position: int) -> bool:
    """Whether an odd number of backslashes directly precedes the position."""
    before = text[:position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def split_unescaped(text: str, separator: str) -> list[str]:
    """The text split at separators (one character) that are not escaped; the pieces keep their escapes."""
    if "\\" not in text:
        return text.split(separator)
    pieces, start = [], 0
    for match in re.finditer(re.escape(separator), text):
        if not is_escaped(text, match.start()):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def last_unescaped(text: str, separator: str) -> int:
    """The position of the last separator (one character) that is not escaped; -1 if there is none."""
    position = text.rfind(separator)
    while position >= 0 and is_escaped(text, position):
        position = text.rfind(separator, 0, position)
    return position
