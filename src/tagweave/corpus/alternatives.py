"""Candidate labels in one field, such as `VBG|JJ`. Their order is kept.

A field with nothing on one side of a bar (`|`, `a||b`) is one label that contains bars. Otherwise a bar inside a
label is escaped with a backslash: `\\|`.
"""

from __future__ import annotations

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.escapes import escape, split_unescaped, unescape

BAR = "|"


def parse_candidates(field: str, special: str = "") -> tuple[str, ...]:
    """The candidates that a non-empty field lists; `special` are further characters that the format escapes.

    Raises:
        CorpusError: an empty field, or a repeated candidate.
    """
    if not field:
        raise CorpusError("an empty label", "a label, or alternatives A|B")
    special += BAR
    pieces = split_unescaped(field, BAR)
    if "" in pieces:
        return (unescape(field, special),)
    candidates = tuple(unescape(piece, special) for piece in pieces)
    if len(set(candidates)) != len(candidates):
        raise CorpusError(f"a repeated alternative in {field!r}", "each alternative once")
    return candidates


def format_candidates(candidates: tuple[str, ...], special: str = "") -> str:
    """The field that `parse_candidates` reads as these candidates.

    Raises:
        CorpusError: an empty label, which text formats cannot distinguish from a missing one.
    """
    if "" in candidates:
        raise CorpusError("an empty label", "labels of at least one character")
    first = candidates[0]
    if len(candidates) == 1 and "\\" not in first and "" in first.split(BAR):
        return escape(first, special) if special else first
    return BAR.join(escape(candidate, special + BAR) for candidate in candidates)
