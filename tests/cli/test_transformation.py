"""`tagweave train --method transform` and `iterate`: their steps, interrupts and `info`."""

from __future__ import annotations

import re

import pytest
from model_files import write

from tagweave.corpus import sample
from tagweave.models.storage import load_model


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transformation")
    lines = {name: sample.path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("ctb", "pd")}
    write(folder / "ctb.txt", lines["ctb"][:20])
    write(folder / "dev.txt", lines["ctb"][100:110])
    write(folder / "pd.txt", lines["pd"][:25])
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


def steps(lines):
    return [re.sub(r" \(after \d+ s\)$", "", line) for line in lines if re.match(r"\d+/\d+ ", line)]


def test_the_steps_of_transform(adapt, tmp_path):
    model, lines = adapt("--method", "transform")
    assert steps(lines) == ["1/3 source model of pd", "2/3 transfer model, pd to ctb", "3/3 final model of ctb"]
    assert (model.about["plan"]["method"], model.space.guidelines) == ("transform", ("ctb",))
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_the_rounds_of_iterate(adapt, run, tmp_path):
    model, lines = adapt("--method", "iterate", "--set", "rounds=2", "--set", "predict_self=0,0.5")
    first = ["1/10 target model of ctb", "2/10 source model of pd", "3/10 round 1: transfer model, pd to ctb"]
    assert steps(lines)[:3] == first
    rounds, best = model.about["rounds"], model.about["round"]
    assert [(each["round"], each["predict_self"]) for each in rounds] == [(1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5)]
    assert model.about["dev_score"] == max(each["dev_score"] for each in rounds)
    assert f"round {best} is the best" in lines
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    shown = run("info", tmp_path / "m").stdout
    assert f"  round 1, predict-self 0.5: dev score {rounds[1]['dev_score']:.4f}\n" in shown
    assert f"method iterate, round {best}" in shown


def test_filtering_is_told(adapt, run, tmp_path):
    model, _ = adapt("--method", "iterate", "--set", "rounds=1", "--set", "filter=true", "--learner", "perceptron")
    assert model.about["plan"]["options"]["filter"] is True
    assert "round 1, filtered: dev score" in run("info", tmp_path / "m").stdout


@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_segmenters_are_adapted_by_the_perceptron(adapt, task):
    options = ("--task", task, "--learner", "perceptron", "--preset", "jiang-2015")
    model, _ = adapt("--method", "iterate", "--set", "rounds=1", *options, iterations=1)
    assert model.task == task
    assert model.about["dev_score"] > 0.5 or task == "segtag"
    assert model.weights.any()


def test_an_interrupt_after_a_round_keeps_its_model(adapt, tmp_path, interrupted):
    with interrupted(1, ".step-6"):
        lines = adapt("--method", "iterate", "--set", "predict_self=0", code=130)
    assert lines[-1] == "interrupted: the same command with --resume goes on"
    assert [each["round"] for each in load_model(tmp_path / "m").about["rounds"]] == [1]


def test_rounds_are_judged_by_development_data(adapt):
    (line,) = [each for each in adapt("--method", "iterate", dev=False, code=2) if "found no --dev" in each]
    assert "expected one" in line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--method iterate --set predict_self=0,2", "expected numbers from 0 to 1"),
        ("--method iterate --set predict_self=x", "found --set predict_self=x, expected numbers"),
        (
            "--method merged --set rounds=2",
            "--set rounds with the method merged, expected iterate or sources or",
        ),
        ("--method transform --set guide=x", "unknown guide 'x', expected one of window, joined"),
    ],
)
def test_what_cannot_be_meant_is_refused(adapt, options, expected):
    assert expected in "\n".join(adapt(*options.split(), code=2))
