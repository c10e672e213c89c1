"""The corpus formats, by name, by file extension, and by the first lines of a file.

A file of this package adds the formats that it defines: how they are read and written, and what they can hold. Nothing
else has to name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules
from typing import NamedTuple

from tagweave.corpus.formats import tables
from tagweave.corpus.formats.format import FirstLines, Format, ModelLabels, Reader
from tagweave.errors import CorpusError


def _formats() -> Iterator[Format]:
    for module in iter_modules(__path__):
        names = vars(import_module(f"{__name__}.{module.name}"))
        yield from (value for value in names.values() if isinstance(value, Format))


FORMATS: dict[str, Format] = {form.name: form for form in _formats()}


def formats() -> tuple[str, ...]:
    """Return the names of all formats."""
    return tuple(FORMATS)


def format_of_name(path: str) -> str | None:
    """Return the format of a file by its extension, ignoring `.gz`; `None` if no format has it."""
    suffix = PurePath(path.lower().removesuffix(".gz")).suffix
    return next((name for name, form in FORMATS.items() if suffix in form.extensions), None)


def chosen_format(name: str | None, path: str) -> Format | None:
    """Look up a format by name, or by file extension if no name is given; `None` if no format has that extension."""
    name = name or format_of_name(path)
    if name is not None and name not in FORMATS:
        raise CorpusError(f"the format {name!r}", f"one of {', '.join(FORMATS)}")
    return None if name is None else FORMATS[name]


def layer_names() -> frozenset[str]:
    """Return the names of layers in files that do not name their layers."""
    return frozenset(name for form in FORMATS.values() for name in (*form.layers, form.heads) if name is not None)


class Recognised(NamedTuple):
    """The format of a file, the reader, and a note for the user if the file might be of another format."""

    format: Format
    read: Reader
    note: str = ""


def recognise(lines: Sequence[str], labels: ModelLabels | None = None) -> Recognised:
    """Return the format that sees the strongest sign in the first lines of a file; if several do, the first by
    the name of its file. If the text is read without labels, the notes of other formats are passed on.

    Text for a model of words, which has these `labels`, is read as words, except for lines in a script without blanks.
    In it a label counts only if the model has it, or if nearly all words have one.
    """
    text = FirstLines(lines, labels)
    looks = [(form, look) for form in FORMATS.values() if (look := form.look(text))]
    looks.sort(key=lambda pair: pair[1].sign, reverse=True)
    form, look = next(pair for pair in looks if pair[1].is_format)
    rejected = (other.note for _, other in looks if not other.is_format and other.note)
    return Recognised(form, look.read or form.read, look.note or ("" if form.labels else next(rejected, "")))


_CHARACTERS = 20_000  # of the first lines, as an export may be one long line
_COLUMNS = "rows of `token TAB label` with a blank line between sentences (format columns)"
_JSON = re.compile(r'\s*(?:\[\s*)*(?:\{\s*(?:"(?:\\.|[^"\\])*"\s*:|\}|\Z)|\[\s*"(?:\\.|[^"\\])*"\s*[,\]]|\[\s*\Z)')
_KEYS = re.compile(r'"([A-Za-z_]+)"\s*:')
_XML = re.compile(
    r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|[a-z][\w:.-]*(?:\s+[\w:.-]+=[^<>]*>|/?>\s*(?:\n|<|\Z)))", re.IGNORECASE
)
_BRAT = re.compile(r"(?:[TREAMN]\d+\t\S+ \S.*|\*\t\S+ \S.*|#\d+\tAnnotatorNotes .*)")
_SEPARATED = [re.compile(rf"[^\s{mark}]*(?:{mark}[^\s{mark}]*)*{mark}(?:[A-Z][\w$-]*|[^\s\w]+|_)") for mark in ",;"]
_ROWS = 3  # that separate their values alike
_MOST = 0.9  # of the rows: a comma may itself be a token
_JUDGEMENTS = {"annotator", "outcome", "revision"}  # keys of what the annotation server keeps


def foreign(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return what a file of another program is that is no text to learn from, and what to read instead, or `None`."""
    text = "\n".join(lines)[:_CHARACTERS]
    if _JSON.match(text):
        if set(_KEYS.findall(text)) >= _JUDGEMENTS:
            return "judgements of tagweave annotate export", "`format=conllu` or kytea there"
        return "JSON", f"{_COLUMNS}, or what tagweave import makes of an export"
    if _XML.match(text):
        return "XML or HTML", f"{_COLUMNS}, or what tagweave harvest markup makes of pages"
    return _foreign_rows([line for line in lines if line.strip()])


def _foreign_rows(rows: Sequence[str]) -> tuple[str, str] | None:
    if rows and rows[0].startswith("#FORMAT=WebAnno"):
        return "a TSV export of WebAnno or INCEpTION", "its export as CoNLL-U or CoNLL 2003"
    unquoted = [row.replace('"', "") for row in rows[1:]]
    separated = max(sum(map(bool, map(pattern.fullmatch, unquoted))) for pattern in _SEPARATED)
    if len(rows) >= _ROWS and separated >= _MOST * len(rows[1:]) and tables.FORMAT.look(FirstLines(rows)) is None:
        return "comma-separated values without titles", f"titles in the first row (format csv), or {_COLUMNS}"
    if any("\t" in row for row in rows) and all(map(_BRAT.fullmatch, rows)):
        return "standoff annotation of brat (.ann), whose text is another file", "what tagweave import brat makes of it"
    return None
