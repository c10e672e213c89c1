"""What a paper prints and finds, from the file `paper.toml` in its folder: to stand beside our numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from reproductions.lab.comparison import Finding


class Row(NamedTuple):
    """A method, by its name."""

    name: str


class Table(NamedTuple):
    """A table of a page.

    Attributes:
        title: what it corresponds to in the paper.
        methods: its rows.
        printed: by the name of a method the paper's cells; a method that is not there is not in the paper's table.
        head: of these cells, where it is not always the same.
        settings: where the table is shown, if not everywhere.
        gold: the data that it is of, if not of all.
    """

    title: str
    methods: tuple[Row, ...]
    printed: Mapping[str, tuple[str, ...]]
    head: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    gold: str = ""


class Paper(NamedTuple):
    """The tables and the findings of a paper, by the part of its experiments."""

    tables: Mapping[str, tuple[Table, ...]]
    findings: Mapping[str, tuple[Finding, ...]]


@lru_cache
def paper(package: str) -> Paper:
    """That of a package of this folder, as `li_2015`."""
    path = Path(__file__).parents[1] / package / "paper.toml"
    parts = tomllib.loads(path.read_text(encoding="utf-8"))
    findings = {name: tuple(_finding(**each) for each in part["findings"]) for name, part in parts.items()}
    return Paper({name: tuple(_table(**each) for each in part["tables"]) for name, part in parts.items()}, findings)


def _finding(first: str, second: str, **more: object) -> Finding:
    return Finding(first=Row(first), second=Row(second), **more)  # type: ignore[arg-type]


def _table(
    title: str,
    rows: list[str],
    printed: Mapping[str, list[str]] | None = None,
    head: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
    gold: str = "",
) -> Table:
    cells = {name: tuple(row) for name, row in (printed or {}).items()}
    return Table(title, tuple(map(Row, rows)), cells, tuple(head), tuple(settings), gold)
