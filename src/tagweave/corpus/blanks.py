"""Blanks, which separate words in text."""

from __future__ import annotations

BLANKS = " \t\u3000"
"""The space, the tab, and the ideographic space, which separates words in some of the SIGHAN bakeoff's files."""


def split_blanks(line: str) -> list[str]:
    """The tokens between the spaces and tabs of a line; an ideographic space may be a token."""
    if "\t" in line:
        line = line.replace("\t", " ")
    return [token for token in line.split(" ") if token]
