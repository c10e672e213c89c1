"""Colours that people with any colour vision tell apart (Okabe and Ito 2008), as tints over the page.

The text keeps the colour of the page, so a tint may be strong enough to be seen and no stronger.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

_COLOURS = ("0,114,178", "230,159,0", "0,158,115", "213,94,0", "204,121,167", "86,180,233", "240,228,66")
_BLUE = _COLOURS[0]
_MARK, _STRONGEST = 0.35, 0.65


def of_types(names: Iterable[str]) -> dict[str, str]:
    """A tint for each name: mostly the same in all pictures, and within one as different as colours suffice."""
    tints: dict[str, str] = {}
    free: list[str] = []
    for name in sorted(set(names)):
        free = free or list(_COLOURS)
        wanted = _COLOURS[crc32(name.encode("utf-8", "backslashreplace")) % len(_COLOURS)]
        chosen = wanted if wanted in free else free[0]
        free.remove(chosen)
        tints[name] = f"rgba({chosen},{_MARK})"
    return tints


def heat(share: float) -> str:
    """The tint of a number from 0 to 1."""
    return f"rgba({_BLUE},{_STRONGEST * share:.3f})"
