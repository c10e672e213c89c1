"""A run writes every shard once, goes on where it stood, and says what it set aside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagweave.cluster.executor import IN_PROCESS
from tagweave.corpus.files import read_lines
from tagweave.errors import ShardError
from tagweave.shards import run as shard_work
from tagweave.shards.run import Counts, prepare, run
from tests.shards.conftest import UpperCase

Through = Callable[..., Counts]


@pytest.fixture
def through(folder: Path, tmp_path: Path) -> Through:
    def call(work: UpperCase | None = None, **options: Any) -> Counts:
        prepared = prepare(work or UpperCase(), [str(folder)], str(tmp_path / "out"))
        return run(IN_PROCESS, prepared, **options)

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


def test_a_second_run_does_what_is_left(through: Through, folder: Path, tmp_path: Path) -> None:
    through()
    (tmp_path / "out/deep/b.txt").unlink()
    (tmp_path / "out/_tagweave/done/c.txt.gz.json").unlink()
    (folder / "a.txt").write_text("new\n")
    (folder / "d.txt").write_text("five\n")
    counts = through()
    assert (counts.before, counts.done) == (0, 4)
    assert content(tmp_path / "out") == {**EXPECTED, "a.txt": "NEW\n", "d.txt": "FIVE\n"}
    counts = through()
    assert (counts.before, counts.done) == (4, 0)


def test_other_work_or_another_text_column_needs_another_folder(through: Through, folder: Path, tmp_path: Path) -> None:
    through()
    with pytest.raises(ShardError, match=r'found shards of other work \(options "", now "quick"\)'):
        through(UpperCase("quick"))
    with pytest.raises(ShardError, match='text_column "text", now "body"'):
        prepare(UpperCase(), [str(folder)], str(tmp_path / "out"), "body")


def test_a_killed_worker_leaves_nothing_half(through: Through, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the shard was written, but before it was recorded: it is done again, over itself."""
    with monkeypatch.context() as patch:
        patch.setattr(shard_work.Manifest, "finish", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            through()
    assert through().before == 0
    assert content(tmp_path / "out") == EXPECTED


def test_what_killed_runs_have_left_is_removed_by_the_run_that_goes_on(
    through: Through, folder: Path, tmp_path: Path
) -> None:
    """On this machine nobody holds the lock of it; elsewhere a young file may be of a run that is still at work."""
    through()
    for name, age in (("old", 2 * 24 * 3600), ("young", 0), ("a.txt.01234567.part/a.txt", 0)):
        path = tmp_path / "out/_tagweave/unfinished" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
        os.utime(path, (time.time() - age,) * 2)
    prepare(UpperCase(), [str(folder)], str(tmp_path / "out"))
    assert [path.name for path in (tmp_path / "out/_tagweave/unfinished").iterdir()] == ["young"]


def test_work_that_finished_nothing_blocks_nothing(folder: Path, tmp_path: Path) -> None:
    prepare(UpperCase("wrong"), [str(folder)], str(tmp_path / "out"))
    run(IN_PROCESS, prepare(UpperCase(), [str(folder)], str(tmp_path / "out")))


def test_a_shard_that_went_bad_has_no_output(through: Through, folder: Path, tmp_path: Path) -> None:
    through()
    (folder / "a.txt").write_text("bad\n")
    through(skip_bad=True)
    assert not (tmp_path / "out/a.txt").exists()
    assert not (tmp_path / "out/_tagweave/done/a.txt.json").exists()


def test_bugs_keep_their_trace(through: Through, folder: Path, tmp_path: Path) -> None:
    (folder / "a.txt").write_text("bug\n")
    with pytest.raises(IndexError) as caught:
        through()
    assert "in carry_out" in caught.value.__notes__[0]
    assert "IndexError" in through(skip_bad=True).failed["a.txt"]


def test_long_names(through: Through, folder: Path, tmp_path: Path) -> None:
    name = "字" * 80 + ".txt"
    (folder / name).write_text("bad\n")
    assert list(through(skip_bad=True).failed) == [name]
    (folder / name).write_text("good\n")
    assert through().done == 1
    assert (tmp_path / "out" / name).read_text() == "GOOD\n"


def test_links_out_of_the_output_folder(through: Through, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "out/deep").symlink_to(tmp_path / "victim")
    assert list(through(skip_bad=True).failed) == ["deep/b.txt"]
    assert not list((tmp_path / "victim").iterdir())


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


@pytest.mark.parametrize("output", ["in", "in/../in", "link"])
def test_the_input_is_never_written_over(folder: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(ShardError, match="which is read, as output"):
        prepare(UpperCase(), [str(folder)], str(tmp_path / output))


def test_another_shard_is_never_written_over(folder: Path, tmp_path: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in/a.txt").write_text("one\n")
    with pytest.raises(ShardError, match="which is read, as output"):
        prepare(UpperCase(), [str(folder)], str(tmp_path))
