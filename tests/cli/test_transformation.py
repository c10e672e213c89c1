"""`tagweave train --method transform` and `iterate`: the models of the library, their steps, interrupts and `info`."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from model_files import contents, write

from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.learning.run import Run, Schedule
from tagweave.models.storage import load_model
from tagweave.training.chain_system import ChainSystem
from tagweave.training.recipe import Recipe
from tagweave.training.transform import PredictSelf, fit_iterated, fit_transformed

SYSTEM = ChainSystem(Recipe(settings={"seed": 0}), Run(Schedule(2)))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transformation")
    lines = {name: sample.path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("ctb", "pd")}
    write(folder / "ctb.txt", lines["ctb"][:30])
    write(folder / "dev.txt", lines["ctb"][100:])
    write(folder / "pd.txt", lines["pd"][:40])
    return folder


@pytest.fixture
def adapt(run, files, tmp_path):
    """Trains for two iterations a step; gives the model and what was said, line by line."""

    def call(*options, code=0, dev=True, iterations=2):
        of_dev = ("--dev", files / "dev.txt") if dev else ()
        corpora = (f"ctb={files / 'ctb.txt'}", "--source", f"pd={files / 'pd.txt'}", *of_dev)
        result = run("train", *corpora, "-o", tmp_path / "m", "--iterations", iterations, *options, code=code)
        return result.stderr.splitlines() if code else (load_model(tmp_path / "m"), result.stderr.splitlines())

    return call


def corpora(files):
    return [[load(f"ctb={files / 'ctb.txt'}")], [load(f"pd={files / 'pd.txt'}")], load(f"ctb={files / 'dev.txt'}")]


def steps(lines):
    return [re.sub(r" \(after \d+ s\)$", "", line) for line in lines if re.match(r"\d+/\d+ ", line)]


def test_transform_is_that_of_the_library(adapt, files, tmp_path):
    model, lines = adapt("--method", "transform")
    assert np.array_equal(model.weights, fit_transformed(SYSTEM, *corpora(files)).model.weights)
    assert steps(lines) == ["1/3 source model of pd", "2/3 transfer model, pd to ctb", "3/3 final model of ctb"]
    assert model.about["plan"]["method"] == "transform"
    assert model.space.guidelines == ("ctb",)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_iterate_is_that_of_the_library(adapt, files, run, tmp_path):
    model, lines = adapt("--method", "iterate", "--rounds", 2, "--predict-self", "0,0.5")
    found = fit_iterated(SYSTEM, *corpora(files), PredictSelf((0.0, 0.5)), 2)
    assert np.array_equal(model.weights, found.model.model.weights)
    assert steps(lines)[:3] == [
        "1/10 target model of ctb",
        "2/10 source model of pd",
        "3/10 round 1: transfer model, pd to ctb",
    ]
    assert f"round {found.best.number} is the best" in lines
    rounds = [(each["round"], each["predict_self"], each["dev_score"]) for each in model.about["rounds"]]
    assert rounds == [tuple(each) for each in found.rounds]
    assert model.about["dev_score"] == found.best.score
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    shown = run("info", tmp_path / "m").stdout
    assert f"  round 1, predict-self 0.5: dev score {rounds[1][2]:.4f}\n" in shown
    assert f"method iterate, round {found.best.number}" in shown
    assert json.loads(run("info", "--json", tmp_path / "m").stdout)["about"]["round"] == found.best.number


def test_filtering_is_told(adapt, run, tmp_path):
    model, _ = adapt("--method", "iterate", "--rounds", 1, "--filter", "--learner", "perceptron")
    assert model.about["plan"]["options"]["filter"] is True
    assert "round 1, filtered: dev score" in run("info", tmp_path / "m").stdout


@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_segmenters_are_adapted_by_the_perceptron(adapt, task):
    options = ("--task", task, "--learner", "perceptron", "--preset", "jiang-2015")
    model, _ = adapt("--method", "iterate", "--rounds", 1, *options, iterations=1)
    assert model.task == task
    assert model.about["dev_score"] > 0.5 or task == "segtag"
    assert model.weights.any()


def test_an_interrupted_cascade_is_resumed(adapt, tmp_path, interrupted):
    """Stopped in the first iteration of the fourth step, after its checkpoint."""
    options = ("--method", "iterate", "--rounds", 2, "--predict-self", "0.5")
    adapt(*options)
    straight = contents(tmp_path / "m")
    (tmp_path / "m").unlink()
    with interrupted(1, ".step-4"):
        (*_, last) = adapt(*options, code=130)
    assert last == "interrupted before the model itself: the same command with --resume goes on"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".plain", *(f".step-{n}" for n in range(1, 5))]
    _, lines = adapt(*options, "--resume")
    numbers = [line.split()[1] for line in lines if line.startswith("iteration ")]
    assert numbers[0] == "2/2"  # of the fourth step: those before it are done
    assert contents(tmp_path / "m") == straight
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_an_interrupt_after_a_round_keeps_its_model(adapt, tmp_path, interrupted):
    with interrupted(1, ".step-6"):
        lines = adapt("--method", "iterate", "--predict-self", "0", code=130)
    assert lines[-1] == "interrupted: the same command with --resume goes on"
    assert [each["round"] for each in load_model(tmp_path / "m").about["rounds"]] == [1]


def test_rounds_are_judged_by_development_data(adapt):
    (line,) = [each for each in adapt("--method", "iterate", dev=False, code=2) if "found no --dev" in each]
    assert "expected one" in line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--method", "iterate", "--predict-self", "0,2"), "expected numbers from 0 to 1"),
        (("--method", "iterate", "--predict-self", "x"), "found --predict-self x, expected numbers"),
        (
            ("--method", "merged", "--rounds", "2"),
            "--rounds with the method merged, expected stacked or transform",
        ),
        (("--method", "transform", "--guide", "x"), "unknown guide 'x', expected one of window, joined"),
    ],
)
def test_what_cannot_be_meant_is_refused(adapt, options, expected):
    assert expected in "\n".join(adapt(*options, code=2))
