"""A model that learned from sources is held against the plain one, and no worse one is handed over unaware."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from model_files import contents, corpora_of, write

from tagweave.learning.loop import FitOutcome
from tagweave.models.storage import describe_model
from tagweave.training import job as jobs

RIGHT = ["a/X b/Y c/Z", "b/Y a/X", "c/Z c/Z b/Y a/X", "a/X c/Z"] * 3
WRONG = [line.translate(str.maketrans("XYZ", "YZX")) for line in RIGHT] * 3


@dataclass(frozen=True)
class Fake:
    """A run whose models have the scores that they are to have."""

    scores: dict[str, float]
    method: str = "merged"
    is_asked_for: bool = False
    incomparable: str = ""
    stopped: bool = False
    order: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    plain: Any = None

    @property
    def run(self) -> Any:
        return SimpleNamespace(tell=self.told.append)

    @property
    def data(self) -> Any:
        return SimpleNamespace(is_asked_for=self.is_asked_for, has_sources=True, target="t")

    def check(self) -> None:
        assert not self.order

    def alone(self) -> Fake:
        return replace(self, method="single", stopped=False)

    def fitted(self) -> Any:
        self.order.append(self.method)
        return Fitted(
            self.method, FitOutcome([], score=self.scores[self.method], iterations=1, interrupted=self.stopped)
        )


@dataclass(frozen=True)
class Fitted:
    name: str
    outcome: FitOutcome


@pytest.fixture
def _fakes(monkeypatch):
    """Methods that ask the job itself."""
    method = SimpleNamespace(fit=Fake.fitted, check=Fake.check)
    monkeypatch.setattr(jobs, "METHODS", {"single": method, "merged": method})
    monkeypatch.setattr(jobs, "_alone", Fake.alone)


@pytest.mark.usefixtures("_fakes")
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(("plain", "adapted"), [(0.8, 0.9), (0.8, 0.8), (0.9, 0.8)])
def test_the_better_one_is_kept_unless_the_method_was_asked_for(plain, adapted, asked):
    job = Fake({"single": plain, "merged": adapted}, is_asked_for=asked)
    kept, told = jobs.train(job), job.told
    assert job.order == ["single", "merged"]
    assert kept.fitted.name == kept.job.method == ("single" if plain > adapted and not asked else "merged")
    assert kept.scores == {"plain": plain, "merged": adapted}
    assert told[1] == f"on the development data: plain {plain:.4f}, merged {adapted:.4f}"
    assert any("warning" in line for line in told) == (plain > adapted and asked)
    assert any("plain model is kept" in line for line in told) == (plain > adapted and not asked)


@pytest.mark.usefixtures("_fakes")
def test_a_run_that_was_stopped_goes_on_whatever_is_kept():
    kept = jobs.train(Fake({"single": 0.9, "merged": 0.8}, stopped=True))
    assert kept.fitted.name == "single" and kept.fitted.outcome.interrupted


@pytest.mark.usefixtures("_fakes")
def test_where_nothing_can_be_compared_it_is_said():
    job = Fake({"merged": 0.5}, incomparable="no --dev")
    assert jobs.train(job).fitted.name == "merged" and job.order == ["merged"]
    assert job.told[0].startswith("no --dev: nothing tells whether the sources made the model better")


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "train.txt", RIGHT)
    write(tmp_path / "dev.txt", RIGHT[1:])
    write(tmp_path / "wrong.txt", WRONG)
    return tmp_path


@pytest.fixture
def train(run, files):
    def call(*options, code=0):
        command = ("train", files / "train.txt", "--source", files / "wrong.txt", "-o", files / "m", "--iterations", 3)
        return run(*command, *options, code=code).stderr

    return call


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
