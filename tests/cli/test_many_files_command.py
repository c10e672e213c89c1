"""`--processes`: many files through a command, each into a file of its name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tagweave.front.many_files import HarvestWork
from tagweave.harvest.options import LexiconOptions, MarkupOptions

TEXT = ["我们看着", "他在看书。", "他们说"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/a.txt").write_text("".join(f"{line}\n" for line in TEXT))
    Path("in/b.txt.gz").write_bytes(gzip.compress(f"{TEXT[0]}\n".encode()))
    return tmp_path


def test_files_are_tagged_as_each_alone(run, segmenter, folder):
    Path("in/bad.txt").write_bytes(b"\xff\n")
    lines = run("tag", segmenter, "in/*", "-o", "out", "--processes", 1, code=2).stderr.splitlines()
    assert lines[0].startswith("in/bad.txt:1: found the byte 0xff")
    assert "found 1 of 3 files that could not be finished (in/bad.txt)" in lines[1]
    for name in ("a.txt", "b.txt.gz"):
        run("tag", segmenter, f"in/{name}", "-o", name)
        assert Path("out", name).read_bytes() == Path(name).read_bytes()
    Path("in/bad.txt").unlink()
    assert (
        run("tag", segmenter, "in", "-o", "out", "--processes", 2).stderr
        == "out: 0 files written, 2 were there before\n"
    )


def test_harvests_of_many_files_are_those_of_each(run, folder):
    Path("words").write_text("我们\n看书\n")
    run("harvest", "lexicon", "in/a.txt", "--lexicon", "words", "-o", "a.kytea")
    assert HarvestWork(("words",), LexiconOptions())("in/a.txt", "b.kytea") == []
    assert Path("a.kytea").read_text() == Path("b.kytea").read_text()
    Path("page.md").write_text("他在[北京](b)看书。\n")
    run("harvest", "markup", "page.md", "-o", "c.kytea")
    assert HarvestWork((), MarkupOptions())("page.md", "d.kytea") == []
    assert Path("c.kytea").read_text() == Path("d.kytea").read_text()


def test_mistakes_are_named_before_processes_start(run, segmenter, folder):
    many = ["--processes", 2]
    Path("words").write_text("我们\n")
    for words, problem in [
        (["tag", segmenter, "in/a.txt", "in/b.txt.gz", "-o", "out"], "found 2 inputs, expected one, or --processes N"),
        (["tag", segmenter, "in", *many], "found --processes without --output"),
        (["tag", segmenter, "in", "-o", "out", *many, "--ray", "auto"], "found --processes and --ray"),
        (["tag", segmenter, "none", "-o", "out", *many], "none: found no file"),
        (["tag", segmenter, "in", "-o", "in", *many], "is read as the output"),
        (
            ["tag", segmenter, "in", "-o", "out", *many, "--best", 2, "--probabilities"],
            "found --probabilities and --best",
        ),
        (["tag", "in/a.txt", "in", "-o", "out", *many], "a.txt: found a damaged file or one of another kind"),
        (["convert", segmenter, "in", "-o", "out", *many, "--review", 2], "found --review with many files"),
        (
            ["harvest", "lexicon", "in", "--lexicon", "words", "-o", "out", *many, "--sample", 1],
            "or --sample with many",
        ),
    ]:
        assert problem in run(*words, code=2).stderr
    assert not Path("out").exists()
