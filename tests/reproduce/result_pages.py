"""What tests read in pages of results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

Page = tuple[str, dict[str, Any]]
"""Text and numbers."""
Pages = dict[str, Page]
"""By part."""


def read_page(path: Path) -> Page:
    """A page, and the numbers that stand beside it."""
    return path.read_text("utf-8"), json.loads(path.with_suffix(".json").read_text("utf-8"))


def read_pages(folder: Path, recipe: str, parts: Iterable[str]) -> Pages:
    """The pages of all parts of a recipe."""
    return {part: read_page(folder / f"{recipe}-{part}.md") for part in parts}


def section(text: str, title: str) -> str:
    """What stands below a heading of the second level."""
    return text.partition(f"\n## {title}")[2].partition("\n## ")[0]


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


def check_plots(text: str, folder: Path, count: int) -> None:
    """So many plots are on the page, and in the folder."""
    plots = re.findall(r"!\[.*\]\((.*)\)", text)
    assert len(set(plots)) == count
    for plot in plots:
        assert (folder / plot).read_bytes().startswith(b"\x89PNG")


def check_differences(numbers: dict[str, Any], seeds: int, scores: str = "scores") -> None:
    """Every difference is that of the means, and has a p of every seed."""
    for setting in numbers["settings"]:
        methods = setting["methods"]
        for found in methods.values():
            for reference, measures in found["against"].items():
                for measure, test in measures.items():
                    means = [each[scores][measure]["mean"] for each in (found, methods[reference])]
                    assert test["difference"] == pytest.approx(means[0] - means[1])
                    assert len(test["p"]) == seeds
                    assert all(0 < p <= 1 for p in [*test["p"], test["p_all"]])


def check_drawn_from_numbers(
    page: Page,
    lines: Callable[[dict[str, Any], Sequence[str]], Iterator[str]],
    draw: Callable[[dict[str, Any], Path], Sequence[str]],
    folder: Path,
) -> None:
    """Numbers that were written and read again give the same page."""
    text, numbers = page
    again = json.loads(json.dumps(numbers))
    assert "\n".join(lines(again, draw(again, folder))) + "\n" == text
