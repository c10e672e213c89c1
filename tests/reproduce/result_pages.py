"""What tests read in pages of results."""

from __future__ import annotations

import re


def rows(text: str, title: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by their first cell."""
    below = text.partition(f"### {title}")[2].partition("\n###")[0].lstrip("\n").partition("\n\n")[2]
    below = below.partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells[2:]}


def check_tables(text: str, least: int) -> None:
    """All lines of a table have as many cells as its head, and there are so many tables; nothing is undefined."""
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= least
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert "nan" not in text
