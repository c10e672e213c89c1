"""Offsets in a text: places, tokens and the characters that they cover, and other ways to count characters.

Offsets here count code points. Some tools count units of UTF-16, bytes, or line breaks otherwise. A quotation, or the
ends of words, tell by which of these ways offsets fit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import accumulate

import regex

from tagweave.corpus.word_boundaries import next_visible


class Places:
    """The places of a text: bisection finds the text without blanks between two of them, and units of UTF-16."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _runs(self) -> tuple[array[int], array[int]]:
        starts, stops = array("l"), array("l")
        for run in regex.finditer(r"[^\s\p{Grapheme_Cluster_Break=Control}]+", self.text):
            starts.append(run.start())
            stops.append(run.end())
        return starts, stops

    @cached_property
    def _wide(self) -> array[int]:
        """The places in UTF-16 of the characters that take two units."""
        wide = re.finditer("[\U00010000-\U0010ffff]", self.text)
        return array("l", (match.start() + at for at, match in enumerate(wide)))

    def stripped(self, start: int, stop: int) -> tuple[int, int]:
        """Return the characters from start to stop without blanks at their ends; (stop, start) if all are blank."""
        starts, stops = self._runs
        first, last = bisect_right(stops, start), bisect_left(starts, stop) - 1
        return (max(start, starts[first]), min(stop, stops[last])) if first <= last else (stop, start)

    def is_blank(self, start: int, stop: int) -> bool:
        first, last = self.stripped(start, stop)
        return first >= last

    def of_unit(self, unit: int) -> int:
        """Return the character at which a unit of UTF-16 stands; -1 inside of one and behind the text."""
        wide = bisect_left(self._wide, unit)
        inside = wide > 0 and self._wide[wide - 1] == unit - 1
        return -1 if inside or unit < 0 or unit - wide > len(self.text) else unit - wide


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """A text and its tokens: the token that begins at an offset, and the token after the one that ends at an offset."""

    text: str
    starts: Mapping[int, int]
    stops: Mapping[int, int]

    @classmethod
    def of(cls, forms: Sequence[str]) -> TokenOffsets:
        """Join tokens with a blank between them, or without one if all are single characters."""
        gap = "" if all(len(form) == 1 for form in forms) else " "
        starts: dict[int, int] = {}
        stops: dict[int, int] = {}
        offset = 0
        for number, form in enumerate(forms):
            starts[offset] = number
            stops[offset + len(form)] = number + 1
            offset += len(form) + len(gap)
        return cls(gap.join(forms), starts, stops)

    @classmethod
    def in_text(cls, text: str, forms: Sequence[str]) -> TokenOffsets | None:
        """Find tokens in a text that may have other blanks between and inside them; `None` if it has other tokens."""
        starts: dict[int, int] = {}
        stops: dict[int, int] = {}
        offset = 0
        for number, form in enumerate(forms):
            if form[:1].isalnum() and not form[-1].isspace() and text.startswith(form, offset):  # often, and quick
                starts[offset] = number
                offset += len(form)
                stops[offset] = number + 1
                continue
            for at, character in enumerate(without_blanks(form)):
                end = offset
                if not at:
                    end = next_visible(text, offset)
                else:
                    while end < len(text) and text[end].isspace():
                        end += 1
                offset = text.find(character, offset, end + 1)
                if offset < 0:
                    return None
                if not at:
                    starts[offset] = number
                offset += 1
            stops[offset] = number + 1
        return cls(text, starts, stops) if next_visible(text, offset) == len(text) else None

    def tokens(self, start: int, stop: int) -> tuple[int, int] | None:
        """Return the tokens start .. stop - 1 of some characters; `None` if these are not whole tokens."""
        if start not in self.starts or stop not in self.stops or self.starts[start] >= self.stops[stop]:
            return None
        return self.starts[start], self.stops[stop]

    def around(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the tokens start .. stop - 1 that overlap each place, whose first character is no blank."""
        starts, stops = [*self.starts], [*self.stops]
        for start, stop in places:
            first = bisect_right(starts, start) - 1
            yield first, max(bisect_left(stops, stop), first) + 1


def without_blanks(text: str) -> str:
    """Return a text without blanks, to compare texts that were cut into tokens differently."""
    return "".join(text.split())


Converted = Callable[[int], int]
"""From an offset of another way to that in code points; -1 if no character begins or ends there."""


_WIDTHS: dict[str, Callable[[str], Iterator[int]]] = {
    "units of UTF-16, as JavaScript and Java do": lambda text: (1 + (character > "\uffff") for character in text),
    "a line break of the two characters \\r\\n (CRLF) as one": lambda text: (
        int(text[at : at + 2] != "\r\n") for at in range(len(text))
    ),
    "a line break as the two characters \\r\\n (CRLF)": lambda text: (1 + (character == "\n") for character in text),
    "bytes of UTF-8": lambda text: (len(character.encode("utf-8", "surrogatepass")) for character in text),
}
_LONGEST = 1 << 20  # characters of a text that is counted in other ways, which takes a second
_MARK = "a byte order mark (BOM) as the first character"


@lru_cache(maxsize=1)
def ways(text: str) -> tuple[tuple[str, Converted], ...]:
    """Return the ways of counting that differ from code points in a text, each with its name; of a long text none."""
    if len(text) > _LONGEST:
        return ()
    starts = {name: array("l", accumulate(widths(text), initial=0)) for name, widths in _WIDTHS.items()}
    different = {name: partial(_index, offsets) for name, offsets in starts.items() if offsets[-1] != len(text)}
    return (*different.items(), (_MARK, lambda offset: offset - 1))


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
