"""The notebooks of the documentation are valid, without outputs, and run; training in one is one line."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("IPython", reason="IPython is not installed")

from notebook_runner import run, run_cell, shell  # noqa: E402

_FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(_FOLDER.glob("*.ipynb"))
_EXPECTED = re.compile(r"tagweave: compiling|1 of 120 documents have no span")
_SECONDS = 60  # of the processor: far more than a notebook takes, also where code is compiled first


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_valid_and_has_no_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert [cell.source for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert notebook.cells[0].source.startswith("# "), "a title"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begin = time.process_time()
    outputs = run(path)
    assert time.process_time() - begin < _SECONDS
    assert any(each.html for each in outputs)
    told = [line for each in outputs for line in each.stderr.splitlines() if not _EXPECTED.match(line)]
    assert told == [], "training says in its line what it has to say"


def test_in_a_notebook_there_is_one_display_and_its_updates() -> None:
    with shell() as running:
        source = """
            import tagweave as tw
            from tagweave.corpus.sample import sample
            corpus = sample("ctb.txt")
            model = tw.train(corpus.with_sentences(corpus.sentences[:3]), iterations=30)
        """
        output = run_cell(running, source)
    first, *others = output.displays
    assert not first["update"]
    assert all(each["update"] for each in others)
    assert {each["transient"]["display_id"] for each in output.displays} == {first["transient"]["display_id"]}
    assert len(output.displays) < 30, "a few versions a second"
    assert output.displays[-1]["data"]["text/plain"].startswith("iteration 30/30")
    assert "features" in output.html[-1], "the notes"
    assert output.stderr.replace("tagweave: compiling", "") == output.stderr == ""


def test_a_training_that_is_interrupted_leaves_its_last_line() -> None:
    source = """
        from tagweave.learning.run import Iteration
        from tagweave.learning.progress import default_progress
        try:
            with default_progress(print) as (callback, _):
                for number in range(1, 4):
                    callback.iteration(Iteration(number, 1.0, None, False, 0.1), 9)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    """
    with shell() as running:
        output = run_cell(running, source)
    assert [each["data"]["text/plain"][:13] for each in output.displays] == ["iteration 1/9", "iteration 3/9"]
