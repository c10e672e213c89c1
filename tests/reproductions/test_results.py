"""Pages of results, of which code and data they are, and the command that runs them again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproductions import results
from reproductions.lab.code import code_digest, running_lines
from reproductions.results import PageRun, commands, data_digests, run, runs, state, table


def test_lines_that_run() -> None:
    text = '"""About."""\n\nimport os  # why\n\n# a remark\ndef f():\n    """Give\n    2."""\n    return "a#b"\n'
    assert running_lines(text) == 'import os  # why\ndef f():\n    return "a#b"'


def test_a_digest_is_of_all_files(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name / "part").mkdir(parents=True)
        (tmp_path / name / "part/a.py").write_text(f"x = {name != 'three'}\n")
    (tmp_path / "two/part/a.py").write_text("# a remark\nx = True\n")
    one, two, three = (code_digest(tmp_path / name / "part") for name in ("one", "two", "three"))
    assert one == two != three


def test_every_page_names_a_command_that_is_there() -> None:
    for page, lines in commands().items():
        assert lines, page
        for line in lines.splitlines():
            path = results.ROOT / line.split()[2].replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").is_file(), f"{page}: {line}"


def test_a_run_notes_modules_and_corpora_of_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora, there = tmp_path / "corpora", tmp_path / "benchmarks_of_a_test"
    for folder in (corpora, there):
        folder.mkdir()
    (corpora / "train.txt").write_text("a\tB\n")
    inner = "import benchmarks.processes, tagweave.corpus.files"
    (there / "__init__.py").write_text("")
    start = f"subprocess.run([sys.executable, '-c', {inner!r}])"
    (there / "outer.py").write_text(f"import subprocess, sys\nopen({str(corpora / 'train.txt')!r})\n{start}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TAGWEAVE_CORPORA", str(corpora))
    monkeypatch.setitem(results._FOLDERS, there.name, tmp_path)
    found = run(f"python -m {there.name}.outer", "")
    assert {*found.code} >= {"benchmarks.processes", "tagweave.corpus", f"{there.name}.outer"}
    assert "tagweave.learning" not in found.code and [*found.data] == ["train.txt"]
    assert state(found, found.command) == "nothing"
    results._file_digest.cache_clear()
    (corpora / "train.txt").write_text("a\tC\n")
    assert (
        state(replace(found, code={**found.code, "tagweave.corpus": "0"}), "other") == "corpus, train.txt, the command"
    )
    results._file_digest.cache_clear()


def test_a_file_that_is_gone_has_changed() -> None:
    assert data_digests(["no/such/file"]) == {"no/such/file": ""}


def test_the_section_of_runs_is_of_the_runs() -> None:
    """But for what changed since, which every commit changes."""
    section = (results.RESULTS / "README.md").read_text(encoding="utf-8").partition(results._HEADING)[2]
    written = [line.rpartition(" | ")[0] for line in section.splitlines() if line.startswith("| [")]
    assert written == [line.rpartition(" | ")[0] for line in table(commands(), runs()) if line.startswith("| [")]


def test_pages_without_a_run() -> None:
    assert state(None, "c") == "written before runs were noted"
    assert state(PageRun("c", "2026-01-31", 60, {}, {}), "c") == "nothing"
