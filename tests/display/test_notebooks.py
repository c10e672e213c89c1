"""The notebooks of the documentation are valid, without outputs, and run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("IPython", reason="IPython is not installed")

from notebook_runner import run  # noqa: E402

_FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(_FOLDER.glob("*.ipynb"))
_SECONDS = 60  # of the processor: far more than a notebook takes, also where code is compiled first


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_valid_and_has_no_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert [cell.source for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert notebook.cells[0].source.startswith("# "), "a title"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begin = time.process_time()
    outputs = run(path)
    assert time.process_time() - begin < _SECONDS
    assert any(each.html for each in outputs)
