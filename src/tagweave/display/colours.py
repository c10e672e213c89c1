"""Colours that people with any colour vision tell apart (Okabe and Ito 2008), as tints over the page.

The text keeps the colour of the page, so a tint may be strong enough to be seen and no stronger.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

_BLUE = "0,114,178"
_TINTS = (
    *(f"rgba({each},.35)" for each in (_BLUE, "230,159,0", "0,158,115", "213,94,0", "204,121,167", "86,180,233")),
    "rgba(240,228,66,.25)",  # yellow: any stronger, and light text of a dark page could not be read on it
)
_STRONGEST = 0.65


def of_types(names: Iterable[str]) -> dict[str, str]:
    """A tint for each name: mostly the same in all pictures, and within one as different as colours suffice."""
    tints: dict[str, str] = {}
    free: list[str] = []
    for name in sorted(set(names)):
        free = free or list(_TINTS)
        wanted = _TINTS[crc32(name.encode("utf-8", "backslashreplace")) % len(_TINTS)]
        chosen = wanted if wanted in free else free[0]
        free.remove(chosen)
        tints[name] = chosen
    return tints


def heat(share: float) -> str:
    """The tint of a number from 0 to 1."""
    return f"rgba({_BLUE},{_STRONGEST * share:.3f})"
