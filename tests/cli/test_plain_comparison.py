"""A model that learned from sources is held against the plain one, and no worse one is handed over unaware."""

from __future__ import annotations

import pytest
from model_files import contents, corpora_of, write

from tagweave.models.storage import describe_model

RIGHT = ["a/X b/Y c/Z", "b/Y a/X", "c/Z c/Z b/Y a/X", "a/X c/Z"] * 3
WRONG = [line.translate(str.maketrans("XYZ", "YZX")) for line in RIGHT] * 3


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "train.txt", RIGHT)
    write(tmp_path / "dev.txt", RIGHT[1:])
    write(tmp_path / "wrong.txt", WRONG)
    write(tmp_path / "more.txt", RIGHT[:2])
    return tmp_path


@pytest.fixture
def train(run, files):
    def call(*options, source="wrong.txt", code=0):
        command = ("train", files / "train.txt", "--source", files / source, "-o", files / "m", "--iterations", 3)
        return run(*command, *options, code=code).stderr

    return call


def test_a_source_that_does_no_harm_is_kept(files, train):
    """Also where both are equally good."""
    told = train("--dev", files / "dev.txt", source="more.txt")
    assert "on the development data: plain 1.0000, with the sources 1.0000" in told
    assert "plain model is kept" not in told and "made the model worse" not in told
    assert [each["path"] for each in corpora_of(contents(files / "m")[1]["about"])] == ["train.txt", "more.txt"]


def test_a_source_that_harms_is_left_out(run, files, train):
    dev = ("--dev", files / "dev.txt")
    run("train", files / "train.txt", *dev, "-o", files / "alone", "--iterations", 3)
    assert "the plain model is kept" in train(*dev)
    (kept, described), (alone, _) = contents(files / "m"), contents(files / "alone")
    assert kept == alone
    about = described["about"]
    assert about["plan"]["method"] == "single"
    assert [each["path"] for each in corpora_of(about)] == ["train.txt"]
    assert about["dev_scores"]["plain"] == about["dev_score"] == 1 > about["dev_scores"]["with the sources"]
    assert "dev: plain 1.0000, with the sources 0." in run("info", files / "m").stdout


@pytest.mark.parametrize("method", ["single", "merged"])
def test_what_was_asked_for_is_kept_with_a_warning(files, train, method):
    told = train("--dev", files / "dev.txt", "--method", method)
    assert f"warning: the sources made the model worse; it is kept because of --method {method}" in told
    about = describe_model(files / "m")["about"]
    assert about["plan"]["method"] == method and about["dev_scores"]["plain"] == 1 > about["dev_score"]


def test_without_development_data_there_is_one_training(train):
    told = train()
    assert "no --dev: nothing tells whether" in told and told.count("iteration 1/3") == 1


@pytest.mark.parametrize("stop", [2, 5])
def test_an_interrupt_of_either_model_is_resumed(files, train, interrupted, stop):
    options = ("--dev", files / "dev.txt", "--method", "merged", "--log", files / "log")
    train(*options)
    straight, log = contents(files / "m"), (files / "log").read_text("utf-8").count("\n")
    (files / "m").unlink()
    with interrupted(stop):
        assert "the same command with --resume goes on" in train(*options, code=130)
    train(*options, "--resume")
    assert contents(files / "m") == straight
    assert (files / "log").read_text("utf-8").count("\n") == log - 1  # the one in which it was stopped
    assert not list(files.glob("m.checkpoint*"))
