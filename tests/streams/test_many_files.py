"""Many files through a function: which files, what is left out, and processes that die."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tagweave.errors import ManyFilesError
from tagweave.streams.many_files import ATTEMPTS, FileCounts, _connect, carry_out, file_tasks
from tests.streams.upper_case import begun, upper_case


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.txt", "in/deep/b.txt", "in/deep/_left", "in/.hidden", "in/year=1/c#d.txt", "in/[x].txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("one\ntwo\n" if "deep" in name else "one\n")
    return tmp_path


def test_inputs_are_files_folders_and_patterns(folder: Path) -> None:
    everything = ["deep/b.txt", "[x].txt", "a.txt", "year=1/c#d.txt"]  # large ones first
    for inputs, names in [
        (["in"], everything),
        (["in/**"], everything),
        (["in/*.txt", "in/deep/*.txt"], ["b.txt", "[x].txt", "a.txt"]),
        (["in/a.txt", "in/deep"], ["b.txt", "a.txt"]),
        (["in/[x].txt"], ["[x].txt"]),
        (["in/*/*.txt"], ["deep/b.txt", "year=1/c#d.txt"]),
        ([str(folder / "in/a.*")], ["a.txt"]),
    ]:
        found = [task.target.removeprefix("out/") for task in file_tasks(inputs, "out") if "/_" not in task.target]
        assert found == names, inputs
    for argument, arguments in [
        ("in/*.txt#upos", ["in/[x].txt#upos", "in/a.txt#upos"]),
        ("in/year=1/*", ["in/year=1/c#d.txt"]),
        ("in/year=1/c#d.txt", ["in/year=1/c#d.txt"]),
        ("pd=in/year=1/*#tag", ["pd=in/year=1/c#d.txt#tag"]),
    ]:
        assert [task.argument for task in file_tasks([argument], "out", True)] == arguments


def test_inputs_that_would_lose_something_are_refused(folder: Path) -> None:
    Path("in/link").symlink_to("a.txt")
    for inputs, output, problem in [
        (["in/a.txt", "none"], "out", "none: found no file"),
        (["in/*.gz"], "out", "found no file"),
        (["in/a.txt", str(folder / "in/*.txt")], "out", r"two files of the name a\.txt"),
        (["in"], "in", "is read as the output, expected another folder"),
        (["in/deep/b.txt", "in/a.txt"], "./in/deep/../deep", "is read as the output"),
    ]:
        with pytest.raises(ManyFilesError, match=problem):
            file_tasks(inputs, output)


def run(inputs: str = "in/*.txt", **options: Any) -> tuple[FileCounts | str, list[str]]:
    """Return the counts of a run or its error, and what it told."""
    told: list[str] = []
    try:
        return carry_out(upper_case, file_tasks([inputs], "out"), tell=told.append, **options), told
    except ManyFilesError as error:
        return str(error), told


def test_what_is_there_is_left_out_and_a_process_that_dies_costs_only_its_own_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name in "abcdef":
        Path(f"in/{name}.txt").write_text("one\nnote\n")
    Path("in/b.txt").write_text("one\nbad\n")
    Path("in/c.txt").write_text("one\ndie\n")
    Path("in/d.txt").write_text("one\ndie once\n")
    Path("out").mkdir()
    Path("out/a.txt").write_text("there before\n")
    heard: list[tuple[int, int]] = []
    error, told = run(processes=2, progress=lambda *numbers: heard.append(numbers))
    assert "found 2 of 5 files that could not be finished (in/" in error
    assert heard == [(number, 5) for number in range(6)]
    assert sorted(told)[0] == "in/b.txt:2: found bad, expected good"
    assert f"in/c.txt: found a file whose process died {ATTEMPTS} times" in sorted(told)[1]
    assert sum("taken for text" in line for line in told) == 1
    assert {path.name: path.read_text() for path in Path("out").iterdir() if path.is_file()} == {
        "a.txt": "there before\n",
        **dict.fromkeys(["e.txt", "f.txt"], "ONE\nNOTE\n"),
        "d.txt": "ONE\nDIE ONCE\n",
    }
    assert begun("in/c.txt") == ATTEMPTS + 1
    assert begun("in/b.txt") <= 2  # once, and once more if it was read beside one that died
    Path("in/b.txt").write_text("one\n")
    Path("in/c.txt").write_text("one\n")
    assert run()[0] == (2, 4)
    assert sorted(path.name for path in Path("out").iterdir()) == [f"{name}.txt" for name in "abcdef"]  # nothing half
    assert run()[0] == (0, 6)
    Path("out/a.txt").unlink()
    Path("in/a.txt").write_text("one\nbug\n")
    with pytest.raises(KeyError, match="bug"):
        run()


@pytest.mark.slow
def test_ray_begins_a_file_again_whose_worker_died(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ray: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name, last in (("a", "two"), ("b", "die once"), ("c", "bad"), ("d", "die")):
        Path(f"in/{name}.txt").write_text(f"one\n{last}\n")
    inputs = str(tmp_path / "in/*.txt")
    told: list[str] = []
    with pytest.raises(ManyFilesError, match="found 2 of 4 files"):
        carry_out(upper_case, file_tasks([inputs], str(tmp_path / "out")), ray="auto", tell=told.append)
    assert ["/c.txt:2: found bad" in line or "/d.txt: found a file whose process died" in line for line in told] == [
        True,
        True,
    ]
    assert Path("out/a.txt").read_text() == "ONE\nTWO\n"
    assert Path("out/b.txt").read_text() == "ONE\nDIE ONCE\n"
    assert (begun("in/b.txt"), begun("in/d.txt")) == (2, ATTEMPTS)


def test_a_cluster_that_is_not_there_is_named() -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install '.[ray]')")
    for address, problem in (("127.0.0.1:1", "found no Ray cluster at '127.0.0.1:1'"), ("there", "expected HOST:PORT")):
        with pytest.raises(ManyFilesError, match=problem):
            _connect(ray, address)
