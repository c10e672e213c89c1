"""Pages: files of markup, alone or in a folder.

HTML: links, anchors, emphasis and headings become spans; scripts, styles, tables, preformatted text are dropped.

Markdown: links, emphasis, inline code and headings become spans; code blocks, tables, images and HTML are dropped, and
so are the extensions of documentation sites: front matter, lines of containers (`:::`), lines of components (`<Note>`),
anchors of headings (`{#id}`) and comments (`{/* */}`).

MediaWiki: links, bold, italics and headings become spans; templates, tables, references and files are dropped. Brackets
and tags that do not nest are counted before: for each, the parser searches to the end of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.corpus.files import STANDARD_STREAM, read_lines
from tagweave.errors import CorpusError
from tagweave.harvest.markup import Markup, blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.token import Token

    from tagweave.harvest.markup import Event, Passage

_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".wiki": "mediawiki",
    ".mediawiki": "mediawiki",
    ".wikitext": "mediawiki",
}
_MAXIMUM = 4_000_000
"""Characters; a page of Wikipedia has at most 2 MB."""


def find(path: str, format: str | None = None) -> list[tuple[str, str]]:  # noqa: A002
    """Return pages and their formats: `path` itself, or all files below it with a known suffix, sorted.

    With a format, all files of a folder that are not hidden are taken, whatever their suffix.
    """
    if path == STANDARD_STREAM or not Path(path).is_dir():
        if (name := format or _format_of_name(path)) is None:
            suffixes = ", ".join(_SUFFIXES)
            raise CorpusError("a page whose name does not tell its format", f"`format`, or one of {suffixes}", path)
        return [(path, name)]
    files = (file for file in sorted(Path(path).rglob("*")) if file.is_file())
    files = (file for file in files if not any(component.startswith(".") for component in file.relative_to(path).parts))
    pages = [(str(file), name) for file in files if (name := format or _format_of_name(file.name))]
    if not pages:
        raise CorpusError("a folder without pages", f"files with the suffixes {', '.join(_SUFFIXES)}", path)
    return pages


def _format_of_name(name: str) -> str | None:
    return _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix.lower())


def read(path: str, format: str, of_words: bool = False) -> Iterator[Passage]:  # noqa: A002
    """Return the blocks of a page in one of the `MARKUP_FORMATS`; `of_words` as in `tagweave.harvest.markup.blocks`."""
    lines, length = [], 0
    for line in read_lines(path):
        length += len(line) + 1
        if length > _MAXIMUM:
            raise CorpusError(f"more than {_MAXIMUM:,} characters", "one page in a file", path)
        lines.append(line)
    events = {"markdown": markdown_events, "html": html_events, "mediawiki": mediawiki_events}[format]
    try:
        return blocks(events("\n".join(lines)), of_words)
    except ModuleNotFoundError as error:
        problem = f"no package {error.name!r}"
        raise CorpusError(problem, "it installed: pip install '.[markup]' in a checkout of tagweave", path) from error
    except CorpusError as error:
        raise CorpusError(error.found, error.expected, path) from error


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
_DEEPEST = 256  # nested elements: libxml2 searches all open ones when it repairs a page


def html_events(text: str) -> Iterable[Event]:
    """Return the events of a page; libxml2 repairs HTML that is not well-formed.

    No tree is built: for one, libxml2 would compare each attribute of an element with all others.
    """
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", target=_HtmlTarget())
    try:
        events: list[Event] = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        if not text.strip():
            return ()
        raise CorpusError(f"what libxml2 cannot parse ({error})", "HTML of a page") from error
    return events


class _HtmlTarget:
    """Collects the events of libxml2, in order; lxml calls these methods on the target of a parser."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._depth = self._dropped = 0  # the number of open elements, and of dropped ones among them

    def start(self, tag: str, _attributes: object) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CorpusError(f"elements nested more than {_DEEPEST} deep", "HTML of a page")
        self._dropped += tag in _DROPPED
        if not self._dropped and tag not in _INLINE:
            self._events.append(Markup.END)
        if not self._dropped and tag in _MARKS:
            self._events.append(Markup.NAME if tag in _NAMES else Markup.OPEN)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if not self._dropped and tag in _MARKS:
            self._events.append(Markup.CLOSE)
        if not self._dropped and tag not in _INLINE:
            self._events.append(Markup.END)
        self._dropped -= tag in _DROPPED

    def data(self, text: str) -> None:
        if not self._dropped:
            self._events.append(text)

    def close(self) -> list[Event]:
        return self._events


_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(?:.*\n)*?\1[ \t]*(?:\n|\Z)")
_SITE_LINES = re.compile(r"^[ \t]*(?::::.*|</?[A-Z][\w.]*(?: [^<>\n]*)?/?>[ \t]*)$", re.MULTILINE)
_ANCHOR = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:\{#[\w:.-]{0,200}\}|\{/\*[^\n]{0,200}?\*/\})")
_OPENING = {"link_open": Markup.NAME, "strong_open": Markup.NAME, "em_open": Markup.OPEN}
_CLOSING = {"link_close", "strong_close", "em_close"}


def markdown_events(text: str) -> Iterator[Event]:
    """Return the events of a page."""
    from markdown_it import MarkdownIt

    text = _SITE_LINES.sub("", _FRONT_MATTER.sub("", text))
    return _markdown_events(MarkdownIt("commonmark").enable("table").parse(_ANCHOR.sub("", text)))


def _markdown_events(tokens: Iterable[Token]) -> Iterator[Event]:
    tables, in_heading = 0, False
    for token in tokens:
        tables += (token.type == "table_open") - (token.type == "table_close")
        if token.type == "heading_open":
            in_heading = True
        elif token.type == "inline" and not tables:
            yield from ((Markup.OPEN, *_inline(token), Markup.CLOSE) if in_heading else _inline(token))
            yield Markup.END
            in_heading = False


def _inline(token: Token) -> Iterator[Event]:
    for child in token.children or ():
        if child.type in _OPENING:
            yield _OPENING[child.type]
        elif child.type in _CLOSING:
            yield Markup.CLOSE
        elif child.type == "code_inline":
            yield from (Markup.OPEN, child.content, Markup.CLOSE)
        elif child.type in {"softbreak", "hardbreak"}:
            yield " "
        elif child.type == "text":
            yield child.content


_REDIRECT = re.compile(r"\s*#\s*(?:REDIRECT|重定向)", re.IGNORECASE)
# pictures, categories, and the same page in other languages and projects; a link that is shown begins with a colon
_NAMESPACE = re.compile(r"\s*(?:[a-z-]+|文件|檔案|档案|图像|圖像|分类|分類|媒体|媒體)\s*:", re.IGNORECASE)
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_VARIANTS = re.compile(r"-\{([^{}]*)\}-")
_SIMPLIFIED = re.compile(r"zh(?:-hans|-cn)?\s*:([^;]*)")
_WIKI_MARKS = {"b", "i", "em", "strong", "u", "mark", "cite", "dfn", "code"}
_WIKI_NAMES = {"b", "strong"}
_BLOCKS = {"br", "p", "div", "blockquote", "center", "li", "dt", "dd", "ul", "ol", "dl", "hr"}
_WIKI_DROPPED = set(
    "gallery graph imagemap math nowiki pre ref references score script source style sup syntaxhighlight table"  # noqa: SIM905
    " templatedata timeline".split()
)
_PATIENCE = 20_000_000  # characters that the parser may scan in vain, at up to half a microsecond each


def mediawiki_events(text: str) -> Iterable[Event]:
    """Return the events of a page, whose blocks are lines; a redirection has none.

    Raises CorpusError for more unclosed brackets and tags than the parser can handle within seconds.
    """
    from mwparserfromhell import parse
    from mwparserfromhell.parser import ParserError

    if _REDIRECT.match(text):
        return ()
    text = _VARIANTS.sub(_variant, _MAGIC_WORD.sub("", text))
    if (number := unclosed(text)) * len(text) > _PATIENCE:
        raise CorpusError(f"{number:,} brackets and tags unclosed or nested too deeply", "the wikitext of a page")
    try:
        return _events(parse(text))
    except ParserError as error:
        raise CorpusError(f"what mwparserfromhell cannot parse ({error})", "the wikitext of a page") from error


def _variant(conversion: re.Match[str]) -> str:
    """Return what readers of simplified Chinese see for a conversion (`-{zh-hans:A;zh-hant:B}-`, `-{A}-`)."""
    flags, bar, rest = conversion[1].rpartition("|")
    if bar and not set(flags.strip()) <= {"A", "R"}:  # other flags only set a rule or a title
        return ""
    if simplified := _SIMPLIFIED.search(rest):
        return simplified[1].strip()
    return "" if ":" in rest else rest


def _events(code: Any) -> Iterator[Event]:
    """Yield the events of a node; the parser nests nodes at most 40 deep, so recursion is safe."""
    from mwparserfromhell import nodes

    for node in code.nodes if code is not None else ():
        if isinstance(node, nodes.Text):
            first, *rest = str(node).split("\n")
            yield first
            for line in rest:
                yield from (Markup.END, line)
        elif isinstance(node, nodes.Wikilink):
            if not _NAMESPACE.match(title := str(node.title)):
                shown = [title.lstrip(":").partition("#")[0]] if node.text is None else _events(node.text)
                yield from (Markup.NAME, *shown, Markup.CLOSE)
        elif isinstance(node, nodes.ExternalLink):
            if node.brackets and node.title is not None:
                yield from (Markup.NAME, *_events(node.title), Markup.CLOSE)
        elif isinstance(node, nodes.Heading):
            yield from (Markup.END, Markup.OPEN, *_events(node.title), Markup.CLOSE, Markup.END)
        elif isinstance(node, nodes.HTMLEntity):
            with suppress(ValueError, OverflowError):  # no such code point
                yield str(node.normalize())
        elif isinstance(node, nodes.Tag):
            yield from _tag(node)


def _tag(node: Any) -> Iterator[Event]:
    name = str(node.tag).strip().lower()
    if name in _WIKI_DROPPED:
        return
    if name in _BLOCKS:
        yield Markup.END
    if name in _WIKI_MARKS:
        yield from (Markup.NAME if name in _WIKI_NAMES else Markup.OPEN, *_events(node.contents), Markup.CLOSE)
    else:
        yield from _events(node.contents)
    if name in _BLOCKS and node.contents:
        yield Markup.END


DEEPEST = 40
"""The depth to which the parser nests."""
_CLOSES = {"]]": "[[", "}}": "{{", "|}": "{|", "-->": "<!--", "]": "["}
# elements whose end the parser does not search for (`mwparserfromhell.definitions.SINGLE`)
_SINGLE = {"br", "hr", "wbr", "meta", "link", "img", "li", "dt", "dd", "td", "th", "tr"}
_BRACKET = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|^[ :]*\{\||^[ ]*\|\}(?!\})|<!--|-->|\[(?=[\w+.-]*:|//)|\]|</?[a-z]+[^<>]*>?",
    re.MULTILINE | re.IGNORECASE,
)
_TAG = re.compile(r"</?([a-z]+).*", re.IGNORECASE | re.DOTALL)


def unclosed(text: str) -> int:
    """Count the brackets and tags that are not closed in order, or lie deeper than the parser nests."""
    stack: list[str] = []
    inside: Counter[str] = Counter()
    count = 0
    for match in _BRACKET.finditer(text):
        name, closes = _bracket(match.group().strip(" :"))
        if not closes:
            stack.append(name)
            inside[name] += 1
        elif inside[name]:
            count += len(stack) > DEEPEST
            while (top := stack.pop()) != name:
                inside[top] -= 1
                count += 1
            inside[name] -= 1
    return count + len(stack)


def _bracket(bracket: str) -> tuple[str, bool]:
    """Return the opening bracket or tag of a bracket, and whether it closes; an empty element closes nothing."""
    if bracket in _CLOSES:
        return _CLOSES[bracket], True
    if bracket[0] != "<" or bracket == "<!--":
        return bracket, False
    tag = _TAG.sub(r"\1", bracket).lower()
    if bracket.endswith("/>") or tag in _SINGLE:
        return "", True
    return f"<{tag}", bracket[1] == "/"
