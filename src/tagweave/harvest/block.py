"""The block: a paragraph, heading or list item of a page, as text and the spans that its markup sets off.

A parser turns a page into events; a block is assembled from the events between two ends of blocks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum
from itertools import accumulate, compress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]

# blanks, control and formatting characters (zero-width blanks, direction marks), and halves of surrogate pairs
_BLANKS = re.compile("[\\s\0-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]+")
_CHINESE = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IS_CHINESE = re.compile(f"[{_CHINESE}]")
_IN_FOREIGN_WORD = re.compile(rf"[^\W{_CHINESE}]")


def is_chinese(character: str) -> bool:
    """Whether a character is Chinese (Han script)."""
    return _IS_CHINESE.match(character) is not None


class Mark(Enum):
    """The events of a parser that are not text."""

    OPEN = "emphasis or a heading begins"
    NAME = "a link or bold text begins"
    CLOSE = "the mark that began last ends"
    END = "a block ends"


Event = str | Mark


class Block(NamedTuple):
    """Text, and the spans [start, stop) of its code points that are set off: sorted, non-empty and different."""

    text: str
    spans: tuple[Span, ...] = ()


def blocks(events: Iterable[Event], of_words: bool = False) -> Iterator[Block]:
    """The blocks of a page that have text.

    A run of blanks becomes one blank between letters or digits (`two words`), and is dropped next to Chinese characters
    and punctuation, where it is typography. Spans begin and end with a letter, digit or Chinese character, since
    quotation marks and the like are words of their own. A mark that is still open at the end of a block sets off a
    passage, not a span.

    Args:
        events: the events of the page.
        of_words: whether words are between blanks: every run of blanks then becomes one, and only links and bold text
            are spans.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    opened: list[tuple[int, bool]] = []
    length = 0
    for event in events:
        if isinstance(event, str):
            pieces.append(event)
            length += len(event)
        elif event in (Mark.OPEN, Mark.NAME):
            opened.append((length, event is Mark.NAME or not of_words))
        elif event is Mark.END:
            yield from _block("".join(pieces), spans, of_words)
            pieces, spans, opened, length = [], [], [], 0
        elif opened:
            start, is_span = opened.pop()
            spans += [(start, length)] if is_span else []
    yield from _block("".join(pieces), spans, of_words)


def _block(text: str, spans: Iterable[Span], of_words: bool) -> Iterator[Block]:
    text, spans = _without_blanks(text, spans, of_words)
    if text:
        yield Block(text, tuple(sorted(_trimmed(text, spans))))


def _without_blanks(text: str, spans: Iterable[Span], of_words: bool) -> tuple[str, list[Span]]:
    kept = bytearray(b"\1") * len(text)
    for blank in _BLANKS.finditer(text):
        start, stop = blank.span()
        kept[start:stop] = bytes(stop - start)
        if of_words:
            kept[start] = start > 0 and stop < len(text)
        elif (
            start
            and stop < len(text)
            and _IN_FOREIGN_WORD.match(text[start - 1])
            and _IN_FOREIGN_WORD.match(text[stop])
        ):
            kept[start] = 1
    position = list(accumulate(kept, initial=0))
    shorter = "".join(compress(text, kept))
    return _BLANKS.sub(" ", shorter), [(position[start], position[stop]) for start, stop in spans]


def _trimmed(text: str, spans: Sequence[Span]) -> set[Span]:
    """Spans cut to their first and last letter or digit; those without any are left out."""
    trimmed = set()
    # computed once, however many spans there are
    inside = [at for at, character in enumerate(text) if character.isalnum()] if spans else []
    for start, stop in spans:
        first, after = bisect_left(inside, start), bisect_left(inside, stop)
        if first < after:
            trimmed.add((inside[first], inside[after - 1] + 1))
    return trimmed
