"""Candidate labels in one field, such as `VBG|JJ`, or with numbers `VBG:0.7|JJ:0.3`. Their order is kept.

A field with nothing on one side of a bar (`|`, `a||b`) is one label that contains bars. Otherwise a bar inside a
label is escaped with a backslash: `\\|`. Numbers have a point (`1.0`, `.5`, `2.5e-3`), so that `10:30` is a label. A
label that ends like one with a number has its last colon escaped: `\\:`.
"""

from __future__ import annotations

import re
from sys import intern

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.escapes import escape, is_escaped, split_unescaped, unescape
from tagweave.corpus.soft import Soft

BAR, COLON = "|", ":"
_NUMBER = re.compile(r":(\d*\.\d+([eE][-+]?\d+)?)\Z")


def parse_candidates(field: str, special: str = "") -> tuple[str, ...]:
    """The candidates that a non-empty field lists; `special` are further characters that the format escapes.

    Candidates with numbers are `Soft`.

    Raises:
        CorpusError: an empty field, a repeated candidate, or a number for some candidates only.
    """
    if not field:
        raise CorpusError("an empty label", "a label, or alternatives A|B")
    special += BAR
    pieces = split_unescaped(field, BAR)
    if "" in pieces:
        return (unescape(field, special),)
    texts, numbers = split_numbers(pieces, field)
    candidates = tuple(_plain(text, special) for text in texts)
    if len(set(candidates)) != len(candidates):
        raise CorpusError(f"a repeated alternative in {field!r}", "each alternative once")
    return Soft(candidates, numbers) if numbers else candidates


def split_numbers(pieces: list[str], field: str) -> tuple[list[str], list[float]]:
    """Candidates without their numbers, and these numbers; none if no candidate has one.

    Raises:
        CorpusError: some have one and others have not.
    """
    matches = [_number(piece) if COLON in piece else None for piece in pieces]
    if not any(matches):
        return pieces, []
    if not all(matches):
        raise CorpusError(f"a number for some candidates only in {field!r}", "a number for each: A:0.7|B:0.3")
    found = [match for match in matches if match]
    return [match.string[: match.start()] for match in found], [float(match[1]) for match in found]


def interned(candidates: tuple[str, ...]) -> tuple[str, ...]:
    """The same candidates, of which every text is in memory once."""
    texts = map(intern, candidates)
    return Soft(texts, candidates.numbers) if isinstance(candidates, Soft) else tuple(texts)


def _number(piece: str) -> re.Match[str] | None:
    match = _NUMBER.search(piece)
    return match if match and match.start() and not is_escaped(piece, match.start()) else None


def _plain(text: str, special: str) -> str:
    """The label without escapes; a colon is escaped only where a number would stand."""
    match = _NUMBER.search(text) if COLON in text else None
    if match and is_escaped(text, match.start()):
        return unescape(text[: match.start() - 1], special) + match.group()
    return unescape(text, special)


def format_number(number: float) -> str:
    """A number as it stands after a candidate: with a point, and no more digits than it needs."""
    text = f"{number:.12g}"
    return text if "." in text else text.replace("e", ".0e") if "e" in text else f"{text}.0"


def number_like(label: str) -> tuple[str, str]:
    """A label without an end that looks like a number (`:0.5`), and this end; "" without one."""
    match = _NUMBER.search(label) if COLON in label else None
    return (label[: match.start()], match.group()) if match and match.start() else (label, "")


def _escaped(label: str, special: str) -> str:
    plain, number = number_like(label)
    return f"{escape(plain, special)}\\{number}" if number else escape(label, special)


def format_candidates(candidates: tuple[str, ...], special: str = "") -> str:
    """The field that `parse_candidates` reads as these candidates.

    Raises:
        CorpusError: an empty label, which text formats cannot distinguish from a missing one.
    """
    if "" in candidates:
        raise CorpusError("an empty label", "labels of at least one character")
    if isinstance(candidates, Soft):
        pairs = ((_escaped(each, special + BAR), format_number(number)) for each, number in candidates.numbered())
        return BAR.join(f"{candidate}{COLON}{number}" for candidate, number in pairs)
    first = candidates[0]
    if len(candidates) == 1 and "\\" not in first and "" in first.split(BAR):
        return escape(first, special) if special else first
    return BAR.join(_escaped(candidate, special + BAR) for candidate in candidates)
