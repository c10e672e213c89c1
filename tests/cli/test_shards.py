"""`--cluster`: folders of files through a command, on processes and on Ray."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tagweave.front import shards

TEXT = ["我们看着", "他在看书。", "他们说"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("".join(f"{line}\n" for line in TEXT))
    (tmp_path / "in/b.txt.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in TEXT[:1]).encode()))
    return tmp_path / "in"


def test_a_folder_is_tagged_as_its_files_are(run, segmenter, folder, tmp_path):
    result = run("tag", segmenter, folder, "-o", tmp_path / "out", "--cluster", "local", "--workers", 1)
    assert "2 files written" in result.stderr
    for name in ("a.txt", "b.txt.gz"):
        run("tag", segmenter, folder / name, "-o", tmp_path / name)
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / name).read_bytes()
    result = run("tag", segmenter, folder, "-o", tmp_path / "out", "--cluster", "local")
    assert "0 files written, 2 were there before" in result.stderr


@pytest.mark.usefixtures("ray")
def test_ray_gives_the_same(run, segmenter, folder, tmp_path):
    for place in ("local", "auto"):
        run("tag", segmenter, f"{folder}/*", "-o", tmp_path / place, "--cluster", place, "--workers", 1)
    assert (tmp_path / "local/a.txt").read_bytes() == (tmp_path / "auto/a.txt").read_bytes()


def test_a_file_that_is_no_model_is_no_fault_of_the_shards(run, folder, tmp_path):
    options = ["--cluster", "local", "--on-error", "skip"]
    result = run("tag", folder / "a.txt", folder, "-o", tmp_path / "out", *options, code=2)
    assert "a.txt: found a damaged file or one of another kind" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_harvest_of_folders(run, folder, tmp_path):
    (tmp_path / "words").write_text("我们\n看书\n")
    options = ["--lexicon", tmp_path / "words", "-o"]
    run("harvest", "lexicon", folder, *options, tmp_path / "out", "--cluster", "local", "--workers", 1)
    run("harvest", "lexicon", folder / "a.txt", *options, tmp_path / "a.kytea")
    assert (tmp_path / "out/a.txt").read_text() == (tmp_path / "a.kytea").read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["in"], "found --cluster without --output"),
        (["none", "-o", "out"], "none: found no file"),
        (["in", "-o", "out", "--on-error", "ignore"], "found --on-error ignore, expected skip or fail"),
        (["in", "-o", "in"], "which is read, as output"),
        (["in", "-o", "out", "--best", "2", "--probabilities"], "found --probabilities and --best"),
    ],
)
def test_mistakes_are_named_before_workers_start(run, segmenter, folder, tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    result = run("tag", segmenter, *options, "--cluster", "nowhere:1", code=2)
    assert problem in result.stderr


def test_set_aside_files_are_listed(run, segmenter, folder, tmp_path):
    (folder / "bad.txt").write_bytes(b"\xff\n")
    options = ["--cluster", "local", "--workers", 1, "--on-error", "skip"]
    lines = run("tag", segmenter, folder, "-o", tmp_path / "out", *options, code=1).stderr.splitlines()
    assert [line.partition(":")[0].strip() for line in lines[-3:]] == [
        str(tmp_path / "out"),
        f"1 file set aside (see {tmp_path / 'out'}/_tagweave/failed)",
        "bad.txt",
    ]


@pytest.mark.parametrize("option", [("--workers", "2"), ("--on-error", "skip"), ("--text-column", "body")])
def test_options_of_many_workers_alone(run, segmenter, folder, option):
    result = run("tag", segmenter, folder / "a.txt", *option, code=2)
    assert f"found {option[0]} without --cluster" in result.stderr


@pytest.mark.parametrize(
    ("argument", "parts"),
    [
        ("year=2026/*.txt", ("year=2026/*.txt", None, None)),
        ("in/year=2026/*.conllu#upos", ("in/year=2026/*.conllu", None, "upos")),
        ("a#b/*.txt", ("a#b/*.txt", None, None)),
        ("s3://b/in#1/*.gz#upos", ("s3://b/in#1/*.gz", None, "upos")),
    ],
)
def test_names_of_folders(argument, parts):
    assert shards._parsed(argument, False) == parts


def test_guidelines_of_conversions():
    assert shards._parsed("pd=in/*.txt#tag", True) == ("in/*.txt", "pd", "tag")
    assert shards._parsed("s3://b/year=1/*.gz", True) == ("s3://b/year=1/*.gz", None, None)
