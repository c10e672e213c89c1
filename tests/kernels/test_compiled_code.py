"""Compiled kernels are kept on disk, and dropped as soon as any kernel file is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagweave import kernels


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two kernel files and compiled code of one."""
    (tmp_path / "one.py").write_text("1")
    (tmp_path / "two.py").write_text("2")
    monkeypatch.setattr(kernels, "_FOLDER", tmp_path)
    kernels._drop_stale_code()
    (tmp_path / "__pycache__" / "one.nbi").write_text("compiled")
    return tmp_path


def compiled(folder: Path) -> list[str]:
    return [path.name for path in (folder / "__pycache__").glob("*.nbi")]


def test_it_is_kept_while_nothing_changes(folder: Path) -> None:
    kernels._drop_stale_code()
    assert compiled(folder) == ["one.nbi"]


@pytest.mark.parametrize("name", ["one.py", "two.py", "three.py"])
def test_an_edit_of_any_file_drops_it(folder: Path, name: str) -> None:
    (folder / name).write_text("edited")
    kernels._drop_stale_code()
    assert compiled(folder) == []
    (folder / "__pycache__" / "one.nbi").write_text("compiled again")
    kernels._drop_stale_code()
    assert compiled(folder) == ["one.nbi"]
