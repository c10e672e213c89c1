"""Runs in raw text, that is, Latin words, numbers, URLs and e-mail addresses: no word begins inside one.

That is evidence like any other, a mark "no boundary" between two characters. The ends of a run are left open, because
guidelines differ there: one has 1998 and 年, the other 1998年. Words of letters and numbers are recognised by the
characters around a position (`kernels.text_arrays`); addresses are searched for only in lines with a trace of one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from string import ascii_letters, digits
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import RAW_BLANKS, folded, public_points
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tagweave.corpus.sentence import Layer

_POINTS = 0x110000
_LETTERS = ("Lu", "Ll", "Lt", "Mn")  # cased letters, and marks on them
_SIGNS = {"APOSTROPHE": "'’", "HYPHEN": "-‐", "POINT": "·∶", "SLASH": "/", "DOT": ".", "PERCENT": "%‰", "AT": "@"}
_ASCII_SIGNS = {"COMMA": ",", "COLON": ":"}  # the full-width ones separate clauses, even after a digit

# Full-width forms that are not punctuation of Chinese sentences, and the colon, which URL schemes need
_FORMS = {ord(sign) + 0xFEE0: sign for sign in ascii_letters + digits + ":/.@-_~%&=#+"}
_ADDRESS = re.compile(
    r"""(?:(?<![a-z])[a-z]{2,15}://|(?<![a-z0-9])www\.)   # RFC 3986; www. needs no scheme
        [a-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*[a-z0-9\-_~/#@$&+=%]
      | (?<![a-z0-9])[a-z0-9][a-z0-9._%+\-]{0,63}@(?:[a-z0-9\-]{1,63}\.)+[a-z]{2,63}  # RFC 5321, without quotes
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def joined(text: str, points: NDArray[np.uint32] | None = None) -> NDArray[np.bool_]:
    """Return bool[n]: whether each character is in the same run as the one before it, so that no word begins there.

    The text has one or more lines; its code points may be given.
    """
    from tagweave.kernels.text_arrays import join_runs

    if points is None:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    inside = np.zeros(len(points), np.bool_)
    traces = np.empty(len(points), np.int64)
    count = join_runs(points, _classes(), inside, traces)
    for start, stop in _addresses(text, traces[:count].tolist()):
        inside[start + 1 : stop] = True
    return inside


def segmentation(characters: Sequence[str]) -> Layer:
    """Return the evidence of runs for the characters of a sentence: sets of B, M, E and S."""
    if not characters:
        return ()
    return segmentation_layer(["-" if inside else " " for inside in joined("".join(characters))[1:].tolist()])


def _addresses(text: str, traces: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of URLs and e-mail addresses in the lines with a trace of one."""
    stop = -1
    for trace in traces:
        if trace < stop:
            continue
        start, stop = text.rfind("\n", 0, trace) + 1, text.find("\n", trace)
        stop = len(text) if stop < 0 else stop
        for match in _ADDRESS.finditer(text[start:stop].translate(_FORMS)):
            yield start + match.start(), start + match.end()


@cache
def _classes() -> NDArray[np.uint8]:
    """uint8[0x110000], the class of each code point in `tagweave.kernels.text_arrays`."""
    from tagweave.kernels import text_arrays

    of_category = {**dict.fromkeys(_LETTERS, text_arrays.LETTER), "Nd": text_arrays.DIGIT}
    classes = np.zeros(_POINTS, np.uint8)
    for point in public_points():
        if of_point := of_category.get(unicodedata.category(chr(point))):
            classes[point] = of_point
    for name, signs in _SIGNS.items():
        variants = [chr(point) for point in range(0xFF00, 0xFFF0) if folded(chr(point)) in signs]
        classes[[ord(sign) for sign in [*signs, *variants]]] = getattr(text_arrays, name)
    for name, signs in _ASCII_SIGNS.items():
        classes[[ord(sign) for sign in signs]] = getattr(text_arrays, name)
    return classes


def without_blanks(sentence: Sentence, whole_runs: bool = True) -> Sentence:
    """Return raw text without its blanks; the layer `segmentation` has the evidence of blanks and runs."""
    kept = [at for at, form in enumerate(sentence.forms) if form not in RAW_BLANKS]
    inside = joined("".join(sentence.forms)).tolist() if whole_runs else [False] * len(sentence)
    boundaries = ["|" if after - before > 1 else "-" if inside[after] else " " for before, after in pairwise(kept)]
    layer = segmentation_layer(boundaries) if kept else ()
    return Sentence(tuple(sentence.forms[at] for at in kept), {SEGMENTATION: layer}, location=sentence.location)
