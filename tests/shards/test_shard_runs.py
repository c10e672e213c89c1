"""A run writes every shard once, goes on where it stood, and says what it set aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagweave.corpus.text_file import read_lines
from tagweave.shards import work as shard_work
from tagweave.shards.errors import ShardError
from tagweave.shards.run import Counts, prepare, run
from tests.shards.conftest import Here, UpperCase

Through = Callable[..., Counts]


@pytest.fixture
def through(here: Here, folder: Path, tmp_path: Path) -> Through:
    def call(work: UpperCase | None = None, **options: Any) -> Counts:
        prepared = prepare(work or UpperCase(), [str(folder)], str(tmp_path / "out"))
        return run(here, prepared, **options)

    return call


def content(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*.*") if "_tagweave" not in path.parts and path.is_file()]
    return {str(path.relative_to(folder)): "".join(f"{line}\n" for line in read_lines(str(path))) for path in files}


EXPECTED = {"a.txt": "ONE\n", "deep/b.txt": "TWO\nTHREE\n", "c.txt.gz": "FOUR\n"}


def test_every_shard_becomes_one_of_its_name(through: Through, tmp_path: Path) -> None:
    counts = through()
    assert content(tmp_path / "out") == EXPECTED
    assert (counts.shards, counts.done, counts.before, counts.read) == (3, 3, 0, counts.bytes)
    record = json.loads((tmp_path / "out/_tagweave/done/deep/b.txt.json").read_text())
    assert record["output_size"] == len("TWO\nTHREE\n")
    assert not list((tmp_path / "out/_tagweave/unfinished").rglob("*.txt"))


def test_a_second_run_does_what_is_left(through: Through, here: Here, folder: Path, tmp_path: Path) -> None:
    through()
    (tmp_path / "out/deep/b.txt").unlink()
    (tmp_path / "out/_tagweave/done/c.txt.gz.json").unlink()
    (folder / "a.txt").write_text("new\n")
    (folder / "d.txt").write_text("five\n")
    here.calls = 0
    assert (through().before, here.calls) == (0, 4)
    assert content(tmp_path / "out") == {**EXPECTED, "a.txt": "NEW\n", "d.txt": "FIVE\n"}
    here.calls = 0
    assert (through().before, here.calls) == (4, 0)


def test_other_work_needs_another_folder(through: Through) -> None:
    through()
    with pytest.raises(ShardError, match=r'found shards of other work \(options "", now "quick"\)'):
        through(UpperCase("quick"))


def test_a_killed_worker_leaves_nothing_half(through: Through, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the shard was written, but before it was recorded: it is done again, over itself."""
    with monkeypatch.context() as patch:
        patch.setattr(shard_work.Manifest, "finish", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            through()
    (tmp_path / "out/_tagweave/unfinished/0-a.txt").write_text("ON")
    assert through().before == 0
    assert content(tmp_path / "out") == EXPECTED
    assert not (tmp_path / "out/_tagweave/unfinished/0-a.txt").exists()


def test_bad_shards_stop_the_run(through: Through, folder: Path, tmp_path: Path) -> None:
    (folder / "z.txt").write_text("x\nbad\n" * 20)
    with pytest.raises(ShardError, match=r"in/z\.txt:2: found bad, expected good"):
        through()
    assert not (tmp_path / "out/z.txt").exists()


def test_bad_shards_are_set_aside(through: Through, folder: Path, tmp_path: Path) -> None:
    (folder / "z.txt").write_text("bad\n")
    counts = through(skip_bad=True)
    assert (counts.done, list(counts.failed)) == (3, ["z.txt"])
    record = json.loads((tmp_path / "out/_tagweave/failed/z.txt.json").read_text())
    assert "found bad" in record["problem"]
    (folder / "z.txt").write_text("good\n")
    counts = through(skip_bad=True)
    assert (counts.done, counts.before, counts.failed) == (1, 3, {})
    assert not (tmp_path / "out/_tagweave/failed/z.txt.json").exists()


def test_notes_are_given_once(through: Through, folder: Path) -> None:
    (folder / "d.txt").write_text("note\n")
    (folder / "e.txt").write_text("note\n")
    assert len(through().notes) == 1


def test_a_damaged_record_is_named(through: Through, tmp_path: Path) -> None:
    through()
    (tmp_path / "out/_tagweave/done/a.txt.json").write_text("{")
    with pytest.raises(ShardError, match=r"a\.txt\.json: found a damaged file"):
        through()


@pytest.mark.parametrize("output", ["in", "in/deep"])
def test_the_input_is_never_written_over(here: Here, folder: Path, tmp_path: Path, output: str) -> None:
    with pytest.raises(ShardError, match="found the folder of the input"):
        prepare(UpperCase(), [str(folder)], str(tmp_path / output))
