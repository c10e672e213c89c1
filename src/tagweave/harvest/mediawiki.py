"""MediaWiki: links, bold, italics and headings become spans; templates, tables, references and files are dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tagweave.corpus.errors import CorpusError
from tagweave.harvest.block import Mark, blocks
from tagweave.harvest.nesting import unclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.harvest.block import Block, Event

_REDIRECT = re.compile(r"\s*#\s*(?:REDIRECT|重定向)", re.IGNORECASE)
# pictures, categories, and the same page in other languages and projects; a link that is shown begins with a colon
_NAMESPACE = re.compile(r"\s*(?:[a-z-]+|文件|檔案|档案|图像|圖像|分类|分類|媒体|媒體)\s*:", re.IGNORECASE)
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_VARIANTS = re.compile(r"-\{([^{}]*)\}-")
_SIMPLIFIED = re.compile(r"zh(?:-hans|-cn)?\s*:([^;]*)")
_MARKS = {"b", "i", "em", "strong", "u", "mark", "cite", "dfn", "code"}
_NAMES = {"b", "strong"}
_BLOCKS = {"br", "p", "div", "blockquote", "center", "li", "dt", "dd", "ul", "ol", "dl", "hr"}
_DROPPED = set(
    "gallery graph imagemap math nowiki pre ref references score script source style sup syntaxhighlight table"  # noqa: SIM905
    " templatedata timeline".split()
)

_PATIENCE = 20_000_000
"""Characters that the parser may scan in vain, at up to half a microsecond each."""


def read(text: str, of_words: bool = False) -> Iterator[Block]:
    """The blocks of a page, one a line, `of_words` as in `blocks`; a redirection has none.

    Raises:
        CorpusError: more unclosed brackets and tags than the parser can handle within seconds.
    """
    from mwparserfromhell import parse
    from mwparserfromhell.parser import ParserError

    if _REDIRECT.match(text):
        return iter(())
    text = _VARIANTS.sub(_variant, _MAGIC_WORD.sub("", text))
    if (number := unclosed(text)) * len(text) > _PATIENCE:
        raise CorpusError(f"{number:,} brackets and tags unclosed or nested too deeply", "the wikitext of a page")
    try:
        return blocks(_events(parse(text)), of_words)
    except ParserError as error:
        raise CorpusError(f"what mwparserfromhell cannot parse ({error})", "the wikitext of a page") from error


def _variant(conversion: re.Match[str]) -> str:
    """The text that readers of simplified Chinese see for a conversion (`-{zh-hans:A;zh-hant:B}-`, `-{A}-`)."""
    flags, bar, rest = conversion[1].rpartition("|")
    if bar and not set(flags.strip()) <= {"A", "R"}:  # other flags only set a rule or a title
        return ""
    if simplified := _SIMPLIFIED.search(rest):
        return simplified[1].strip()
    return "" if ":" in rest else rest


def _events(code: Any) -> Iterator[Event]:
    """The events of a node; the parser nests nodes at most 40 deep, so recursion is safe."""
    from mwparserfromhell import nodes

    for node in code.nodes if code is not None else ():
        if isinstance(node, nodes.Text):
            yield from _lines(str(node))
        elif isinstance(node, nodes.Wikilink):
            yield from _link(node)
        elif isinstance(node, nodes.ExternalLink):
            if node.brackets and node.title is not None:
                yield from (Mark.NAME, *_events(node.title), Mark.CLOSE)
        elif isinstance(node, nodes.Heading):
            yield from (Mark.END, Mark.OPEN, *_events(node.title), Mark.CLOSE, Mark.END)
        elif isinstance(node, nodes.HTMLEntity):
            yield _character(node)
        elif isinstance(node, nodes.Tag):
            yield from _tag(node)


def _lines(text: str) -> Iterator[Event]:
    for number, line in enumerate(text.split("\n")):
        if number:
            yield Mark.END
        yield line


def _link(node: Any) -> Iterator[Event]:
    title = str(node.title)
    if _NAMESPACE.match(title):
        return
    shown = _events(node.text) if node.text is not None else iter([title.lstrip(":").partition("#")[0]])
    yield from (Mark.NAME, *shown, Mark.CLOSE)


def _character(entity: Any) -> str:
    try:
        return str(entity.normalize())
    except (ValueError, OverflowError):  # no such code point
        return ""


def _tag(node: Any) -> Iterator[Event]:
    name = str(node.tag).strip().lower()
    if name in _DROPPED:
        return
    if name in _BLOCKS:
        yield Mark.END
    if name in _MARKS:
        yield from (Mark.NAME if name in _NAMES else Mark.OPEN, *_events(node.contents), Mark.CLOSE)
    else:
        yield from _events(node.contents)
    if name in _BLOCKS and node.contents:
        yield Mark.END
