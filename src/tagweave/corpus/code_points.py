"""Which code points are characters."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def public_points() -> Iterator[int]:
    """The code points of the planes of Unicode that have characters: a quarter of all code points.

    Planes 4 to 13 are empty, the last two are for private use.
    """
    return chain(range(0x40000), range(0xE0000, 0xF0000))
