"""Places in a text: what is not blank between two of them, and units of UTF-16, in time that does not depend on it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property

_RUN = re.compile(r"\S+")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


class Places:
    """The places of a text. Nothing is computed before it is asked for.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _runs(self) -> tuple[array[int], array[int]]:
        """Where runs of characters that are not blank begin, and where they end."""
        starts, stops = array("l"), array("l")
        for each in _RUN.finditer(self.text):
            starts.append(each.start())
            stops.append(each.end())
        return starts, stops

    @cached_property
    def _wide(self) -> array[int]:
        """The places in UTF-16 of the characters that take two units."""
        return array("l", (each.start() + at for at, each in enumerate(_WIDE.finditer(self.text))))

    def stripped(self, start: int, stop: int) -> tuple[int, int]:
        """Return the characters from start to stop without blanks at their ends; (stop, start) if all are blank."""
        starts, stops = self._runs
        first, last = bisect_right(stops, start), bisect_left(starts, stop) - 1
        return (max(start, starts[first]), min(stop, stops[last])) if first <= last else (stop, start)

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether there are only blanks from start to stop."""
        first, last = self.stripped(start, stop)
        return first >= last

    def is_at(self, start: int, stop: int, text: str) -> bool:
        """Return whether a text stands there, without copying what is longer."""
        return stop - start == len(text) and self.text[start:stop] == text

    def of_unit(self, unit: int) -> int:
        """Return the character at which a unit of UTF-16 stands; -1 inside of one and behind the text."""
        wide = bisect_left(self._wide, unit)
        inside = wide > 0 and self._wide[wide - 1] == unit - 1
        return -1 if inside or unit < 0 or unit - wide > len(self.text) else unit - wide
