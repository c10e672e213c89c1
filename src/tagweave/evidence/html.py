"""HTML: links, anchors, emphasis and headings as spans; scripts, styles, tables, preformatted text are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.evidence.block import Mark, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from tagweave.evidence.block import Block, Event

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_EMPHASIS = {"a", "b", "strong", "i", "em", "u", "mark", "dfn", "cite", "code", "font"}
_MARKS = _EMPHASIS | _HEADINGS
_INLINE = _EMPHASIS | set(
    "abbr acronym bdi bdo big data del ins kbd label q ruby rb s samp small span strike sub time tt var wbr".split()  # noqa: SIM905
)
_DROPPED = set(
    "applet audio button canvas embed head iframe math noscript object pre rp rt script select style sup svg table"  # noqa: SIM905
    " template textarea title video".split()
)


def read(text: str) -> Iterator[Block]:
    """The blocks of a page; HTML that is not well-formed is mended as libxml2 does.

    Raises:
        CorpusError: elements nested deeper than libxml2 reads (256).
    """
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.ParserError:  # nothing but blanks and comments
        return iter(())
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"what libxml2 cannot parse ({error})", "HTML of a page") from error
    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        raise CorpusError("elements nested more than 256 deep", "HTML of a page")
    return iter(()) if root is None else blocks(_events(root))


def _events(root: etree._Element) -> Iterator[Event]:
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = str(element.tag)
        if event == "start":
            if tag in _DROPPED:
                walk.skip_subtree()
                continue
            yield from _start(tag)
            yield element.text or ""
        else:
            if tag not in _DROPPED:
                yield from _end(tag)
            yield element.tail or ""


def _start(tag: str) -> Iterator[Event]:
    if tag not in _INLINE:
        yield Mark.END
    if tag in _MARKS:
        yield Mark.OPEN


def _end(tag: str) -> Iterator[Event]:
    if tag in _MARKS:
        yield Mark.CLOSE
    if tag not in _INLINE:
        yield Mark.END
