"""Other ways to count the characters of a text, by which offsets may have been made that do not fit.

Offsets here count code points. Some tools count units of UTF-16, bytes, or line breaks otherwise. A quotation, or the
ends of words, tell by which of these ways offsets fit.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import accumulate

Converted = Callable[[int], int]
"""From an offset of another way to that in code points; -1 if no character begins or ends there."""


def _utf16(text: str) -> Iterator[int]:
    return (1 + (character > "\uffff") for character in text)


def _utf8(text: str) -> Iterator[int]:
    return (len(character.encode("utf-8", "surrogatepass")) for character in text)


def _one_break(text: str) -> Iterator[int]:
    return (int(text[at : at + 2] != "\r\n") for at in range(len(text)))


def _two_breaks(text: str) -> Iterator[int]:
    return (1 + (character == "\n") for character in text)


_WIDTHS: dict[str, Callable[[str], Iterator[int]]] = {
    "units of UTF-16, as JavaScript and Java do": _utf16,
    "a line break of the two characters \\r\\n (CRLF) as one": _one_break,
    "a line break as the two characters \\r\\n (CRLF)": _two_breaks,
    "bytes of UTF-8": _utf8,
}
_LONGEST = 1 << 20  # characters of a text that is counted in other ways, which takes a second
_MARK = "a byte order mark (BOM) as the first character"


@lru_cache(maxsize=1)
def ways(text: str) -> tuple[tuple[str, Converted], ...]:
    """Return the ways of counting that differ from code points in a text, each with its name; of a long text none."""
    if len(text) > _LONGEST:
        return ()
    starts = {name: array("l", accumulate(widths(text), initial=0)) for name, widths in _WIDTHS.items()}
    others = {name: partial(_index, each) for name, each in starts.items() if each[-1] != len(text)}
    return (*others.items(), (_MARK, lambda offset: offset - 1))


def _index(starts: array[int], offset: int) -> int:
    at = bisect_left(starts, offset)
    return at if at < len(starts) and starts[at] == offset else -1


def hint(text: str, start: int, stop: int, fits: Callable[[int, int], bool]) -> str:
    """Return the end of a message: by which way of counting a span would fit; "" if by none."""
    for name, converted in ways(text):
        first, last = converted(start), converted(stop)
        if 0 <= first < last <= len(text) and fits(first, last):
            return f" (the offsets fit if they count {name})"
    return ""


def are_words(text: str, start: int, stop: int) -> bool:
    """Return whether characters begin and end where words do, without blanks at their ends."""
    piece = text[start:stop]
    if not piece or piece != piece.strip():
        return False
    before, after = text[start - 1 : start], text[stop : stop + 1]
    return not (before.isalnum() and piece[0].isalnum()) and not (after.isalnum() and piece[-1].isalnum())
