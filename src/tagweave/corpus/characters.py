r"""Blanks, the width of characters, backslash escapes, and text that is safe for a terminal.

A backslash escapes a special character of a format or another backslash. Elsewhere it is an ordinary character, so
files with backslashes in their text (`\*` in the Penn Treebank) stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLANKS = " \t\u3000"
"""What separates words in files: the space, the tab, and, in some of the SIGHAN bakeoff's, the ideographic space."""
RAW_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b"
"""What is no part of a word in raw text: all that Python calls blank, and the zero-width space."""
_POINTS = 0x110000
_HALF_AND_FULL_WIDTH = range(0xFF00, 0xFFF0)
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def split_blanks(line: str) -> list[str]:
    """Split a line at spaces and tabs; an ideographic space may be a token."""
    if "\t" in line:
        line = line.replace("\t", " ")
    return [token for token in line.split(" ") if token]


def public_points() -> Iterator[int]:
    """Yield the code points of planes with characters: planes 4 to 13 are empty, the last two for private use."""
    return chain(range(0x40000), range(0xE0000, 0xF0000))


_FOLDING = {
    point: form
    for point in (0x3000, *_HALF_AND_FULL_WIDTH)
    if len(form := unicodedata.normalize("NFKC", chr(point))) == 1 and form != chr(point)
}


def folded(text: str) -> str:
    """Replace full-width and half-width forms by the usual ones (NFKC): `Ａ` by `A`, `，` by `,`, `ｱ` by `ア`.

    A form that becomes several characters (`￣`) stays, so the length and all positions stay. For features and
    comparisons, never for output.
    """
    return text.translate(_FOLDING)


@cache
def folded_points() -> NDArray[np.uint32]:
    """Return uint32[0x110000]: what `folded` makes of each code point."""
    import numpy as np

    points = np.arange(_POINTS, dtype=np.uint32)
    for point, form in _FOLDING.items():
        points[point] = ord(form)
    points.flags.writeable = False
    return points


@lru_cache
def _patterns(special: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    one = "[" + re.escape(special + "\\") + "]"
    return re.compile(rf"\\(?={one}|\Z)|[{re.escape(special)}]"), re.compile(rf"\\({one})")


def escape(text: str, special: str) -> str:
    """Escape each of the `special` characters; `unescape` gives the text back."""
    return _patterns(special)[0].sub(r"\\\g<0>", text)


def unescape(text: str, special: str) -> str:
    """Resolve the escapes of `special` characters and of backslashes."""
    return _patterns(special)[1].sub(r"\1", text) if "\\" in text else text


def is_escaped(text: str, position: int) -> bool:
    """Return whether an odd number of backslashes directly precedes the position."""
    before = text[:position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def split_unescaped(text: str, separator: str) -> list[str]:
    """Split at separators (one character) that are not escaped; the pieces keep their escapes."""
    if "\\" not in text:
        return text.split(separator)
    pieces, start = [], 0
    for match in re.finditer(re.escape(separator), text):
        if not is_escaped(text, match.start()):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def last_unescaped(text: str, separator: str) -> int:
    """Return the position of the last separator (one character) that is not escaped; -1 if there is none."""
    position = text.rfind(separator)
    while position >= 0 and is_escaped(text, position):
        position = text.rfind(separator, 0, position)
    return position


def printable(text: str) -> str:
    """Escape control characters (except tabs), direction marks and halves of surrogate pairs."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def is_text(value: str) -> bool:
    """Return whether a string is Unicode text, which files can hold: without halves of surrogate pairs."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(value: Any) -> Any:
    """Decode bytes as UTF-8; return any other value as it is. Raises ValueError if they are not UTF-8."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"found the bytes {value!r:.60}, expected UTF-8") from None
