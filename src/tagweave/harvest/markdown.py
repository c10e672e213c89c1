"""Markdown: links, emphasis, inline code and headings become spans; code blocks, tables, images and HTML are dropped.

So are the extensions of documentation sites: front matter, lines of containers (`:::`), lines of components (`<Note>`),
anchors of headings (`{#id}`) and comments (`{/* */}`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tagweave.harvest.block import Mark, blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.token import Token

    from tagweave.harvest.block import Block, Event

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(?:.*\n)*?\1[ \t]*(?:\n|\Z)")
_SITE_LINES = re.compile(r"^[ \t]*(?::::.*|</?[A-Z][\w.]*(?: [^<>\n]*)?/?>[ \t]*)$", re.MULTILINE)
_ANCHOR = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:\{#[\w:.-]{0,200}\}|\{/\*[^\n]{0,200}?\*/\})")
_OPENING = {"link_open": Mark.NAME, "strong_open": Mark.NAME, "em_open": Mark.OPEN}
_CLOSING = {"link_close", "strong_close", "em_close"}


def read(text: str, of_words: bool = False) -> Iterator[Block]:
    """The blocks of a page; `of_words` as in `blocks`."""
    from markdown_it import MarkdownIt

    text = _SITE_LINES.sub("", _FRONT_MATTER.sub("", text))
    parser = MarkdownIt("commonmark").enable("table")
    return blocks(_events(parser.parse(_ANCHOR.sub("", text))), of_words)


def _events(tokens: Iterable[Token]) -> Iterator[Event]:
    tables, in_heading = 0, False
    for token in tokens:
        tables += (token.type == "table_open") - (token.type == "table_close")
        if token.type == "heading_open":
            in_heading = True
        elif token.type == "inline" and not tables:
            yield from ((Mark.OPEN, *_inline(token), Mark.CLOSE) if in_heading else _inline(token))
            yield Mark.END
            in_heading = False


def _inline(token: Token) -> Iterator[Event]:
    for child in token.children or ():
        if child.type in _OPENING:
            yield _OPENING[child.type]
        elif child.type in _CLOSING:
            yield Mark.CLOSE
        elif child.type == "code_inline":
            yield from (Mark.OPEN, child.content, Mark.CLOSE)
        elif child.type in {"softbreak", "hardbreak"}:
            yield " "
        elif child.type == "text":
            yield child.content
