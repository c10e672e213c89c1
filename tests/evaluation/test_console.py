"""Tables in a pipe are as wide as they have to be."""

from __future__ import annotations

import pytest
from rich.table import Table

from tagweave.evaluation.console import table_console

NAME = "a-name-that-is-longer-than-a-line-of-eighty-characters" * 3


def test_no_name_is_cut_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table()
    table.add_column("name")
    table.add_row(NAME)
    table_console().print(table)
    lines = capsys.readouterr().out.splitlines()
    assert any(NAME in line for line in lines)
    assert len(set(map(len, lines))) == 1


def test_columns_are_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert table_console().width == 72
