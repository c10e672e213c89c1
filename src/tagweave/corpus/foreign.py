"""Files of other programs that are not text to learn from: recognised by their first lines, with advice."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CHARACTERS = 20_000  # of the first lines, as an export may be one long line
_COLUMNS = "rows of `token TAB label` with a blank line between sentences (format columns)"
_IMPORT = "what this makes of it: tagweave import"
_JSON = re.compile(r'\s*(?:\[\s*)*(?:\{\s*(?:"(?:\\.|[^"\\])*"\s*:|\}|\Z)|\[\s*"(?:\\.|[^"\\])*"\s*[,\]]|\[\s*\Z)')
_KEYS = re.compile(r'"([A-Za-z_]+)"\s*:')
_XML = re.compile(
    r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|[a-z][\w:.-]*(?:\s+[\w:.-]+=[^<>]*>|/?>\s*(?:\n|<|\Z)))", re.IGNORECASE
)
_BRAT = re.compile(r"(?:[TREAMN]\d+\t\S+ \S.*|\*\t\S+ \S.*|#\d+\tAnnotatorNotes .*)")
_SEPARATED = [re.compile(rf"[^\s{mark}]+(?:{mark}[^\s{mark}]*)*{mark}(?:[A-Z][\w$-]*|[^\s\w]+|_)") for mark in ",;"]
_ROWS = 3  # that separate their values alike
_MOST = 0.9  # of the rows: a comma may itself be a token
_EXPORTS = (
    ({"annotator", "outcome", "revision"}, "judgements of tagweave annotate export", "`format=conllu` or kytea there"),
    ({"annotations", "result"}, "a JSON export of Label Studio", f"{_IMPORT} label-studio"),
    ({"text", "spans", "answer"}, "a JSONL export of Prodigy", f"{_IMPORT} prodigy"),
    ({"text", "spans", "_input_hash"}, "a JSONL export of Prodigy", f"{_IMPORT} prodigy"),
    ({"paragraphs", "sentences", "tokens"}, "JSON training data of spaCy", _COLUMNS),
    ({"text", "ents"}, "JSON of spaCy", _COLUMNS),
    ({"text", "entities"}, "JSON of spaCy or doccano", _COLUMNS),
    ({"text", "label"}, "a JSONL export of doccano", f"{_IMPORT} doccano"),
    ({"text", "labels"}, "a JSONL export of doccano", f"{_IMPORT} doccano"),
    ({"entities"}, "JSON training data of spaCy", _COLUMNS),
)
"""The keys at the beginning of an export, what it is, and what can be read instead. The first that fits counts."""


def foreign(lines: Sequence[str]) -> tuple[str, str] | None:
    """The foreign format of a file's first lines, and what can be read instead; `None` if it is none of them."""
    text = "\n".join(lines)[:_CHARACTERS]
    if _JSON.match(text):
        keys = set(_KEYS.findall(text))
        named = ((what, instead) for wanted, what, instead in _EXPORTS if wanted <= keys)
        return next(named, ("JSON", _COLUMNS))
    return _of_markup(text) if _XML.match(text) else _of_rows([line for line in lines if line.strip()])


def _of_markup(text: str) -> tuple[str, str]:
    if re.match(r"\s*<(?:!DOCTYPE html|html)\b", text, re.IGNORECASE):
        return "HTML", "text, or what tagweave harvest markup makes of it"
    return "TEI (XML)" if re.search(r"<TEI\b|tei-c\.org", text) else "XML", _COLUMNS


def _of_rows(rows: Sequence[str]) -> tuple[str, str] | None:
    if rows and rows[0].startswith("#FORMAT=WebAnno"):
        return "a TSV export of WebAnno or INCEpTION", f"{_IMPORT} webanno-tsv"
    separated = max(sum(map(bool, map(each.fullmatch, rows[1:]))) for each in _SEPARATED)
    if len(rows) >= _ROWS and separated >= _MOST * len(rows[1:]):
        return "comma-separated values", _COLUMNS
    if any("\t" in row for row in rows) and all(map(_BRAT.fullmatch, rows)):
        return "standoff annotation of brat (.ann), whose text is another file", f"{_IMPORT} brat"
    return None
