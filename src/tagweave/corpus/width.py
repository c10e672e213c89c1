"""Folding full-width and half-width forms of characters: `Ａ` and `A`, `，` and `,`, `ｱ` and `ア`.

One code point becomes one code point, so that the text keeps its length and positions. Folding is for features and
comparisons, never for output.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_POINTS = 0x110000
_FORMS = range(0xFF00, 0xFFF0)  # Unicode's block Halfwidth and Fullwidth Forms


def _folding() -> dict[int, str]:
    """NFKC of each character of the block, if that is one character; the ideographic space becomes a space."""
    normal = {point: unicodedata.normalize("NFKC", chr(point)) for point in _FORMS}
    changed = {point: form for point, form in normal.items() if len(form) == 1 and form != chr(point)}
    return {0x3000: " ", **changed}


_FOLDING = _folding()


def folded(text: str) -> str:
    """The text with full-width and half-width forms replaced by their compatible usual forms (NFKC).

    A form that becomes several characters (`￣`) stays, and so do two half-width marks that make one character.
    """
    return text.translate(_FOLDING)


@cache
def folded_points() -> NDArray[np.uint32]:
    """uint32[0x110000]: the code point that each is folded to, mostly itself."""
    import numpy as np

    points = np.arange(_POINTS, dtype=np.uint32)
    for point, form in _FOLDING.items():
        points[point] = ord(form)
    points.flags.writeable = False
    return points
