"""HTML: links, anchors, emphasis and headings become spans; scripts, styles, tables, preformatted text are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.harvest.block import Mark, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.harvest.block import Block, Event

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_EMPHASIS = {"a", "b", "strong", "i", "em", "u", "mark", "dfn", "cite", "code", "font"}
_MARKS = _EMPHASIS | _HEADINGS
_NAMES = {"a", "b", "strong"}
_INLINE = _EMPHASIS | set(
    "abbr acronym bdi bdo big data del ins kbd label q ruby rb s samp small span strike sub time tt var wbr".split()  # noqa: SIM905
)
_DROPPED = set(
    "applet audio button canvas embed head iframe math noscript object pre rp rt script select style sup svg table"  # noqa: SIM905
    " template textarea title video".split()
)


_DEEPEST = 256
"""Nested elements: libxml2 searches all open ones when it repairs a page."""


def read(text: str, of_words: bool = False) -> Iterator[Block]:
    """The blocks of a page, `of_words` as in `blocks`; libxml2 repairs HTML that is not well-formed.

    No tree is built: for one, libxml2 would compare each attribute of an element with all others.

    Raises:
        CorpusError: elements nested more than 256 deep, or HTML that libxml2 cannot parse.
    """
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", target=_Events())
    try:
        events = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        if not text.strip():
            return iter(())
        raise CorpusError(f"what libxml2 cannot parse ({error})", "HTML of a page") from error
    return blocks(events, of_words)


class _Events:
    """Collects the events of libxml2, in order; the methods are those that lxml calls on the target of a parser."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._depth = self._dropped = 0  # the number of open elements, and of dropped ones among them

    def start(self, tag: str, _attributes: object) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CorpusError(f"elements nested more than {_DEEPEST} deep", "HTML of a page")
        self._dropped += tag in _DROPPED
        if not self._dropped:
            self._events += _start(tag)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if not self._dropped:
            self._events += _end(tag)
        self._dropped -= tag in _DROPPED

    def data(self, text: str) -> None:
        if not self._dropped:
            self._events.append(text)

    def close(self) -> list[Event]:
        return self._events


def _start(tag: str) -> Iterator[Event]:
    if tag not in _INLINE:
        yield Mark.END
    if tag in _MARKS:
        yield Mark.NAME if tag in _NAMES else Mark.OPEN


def _end(tag: str) -> Iterator[Event]:
    if tag in _MARKS:
        yield Mark.CLOSE
    if tag not in _INLINE:
        yield Mark.END
