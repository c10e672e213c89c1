"""`tagweave tune` from a plan to a better one, and mistakes in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed (pip install '.[tune]')")

from tagweave.tuning import search

Run = Callable[..., Any]


@pytest.fixture
def plan(corpora: Path, run: Run, tmp_path: Path) -> Path:
    words = ("--dev", corpora / "dev.txt", "--iterations", 2, "--print-plan")
    (tmp_path / "plan.json").write_text(run("train", corpora / "train.txt", *words).stdout)
    return tmp_path / "plan.json"


def test_the_best_plan_is_written_and_trained(plan: Path, run: Run) -> None:
    best = plan.with_name("best.json")
    words = ("--trials", 3, "--seeds", 1, "--search", "rate=log:0.01:1")
    shown = run("tune", plan, "-o", best, *words)
    assert "trial 0 (1 of 3)  score 0." in shown.stderr
    assert f"`tagweave train --plan {best} -o MODEL` trains it" in shown.stderr
    assert "the plan" in shown.stdout
    again = run("tune", plan, "-o", best, *words, "--json")
    assert "3 of 3 trials are in the storage already" in again.stderr
    result = json.loads(again.stdout)
    score = result["trials"][result["best"]]["score"]
    assert f"dev {score:.4f}" in run("train", "--plan", best, "-o", plan.with_name("best.model")).stderr


def test_an_interrupt_says_how_to_go_on(plan: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(search._Trainings, "score", interrupted)
    assert "the same command goes on" in run("tune", plan, "-o", plan.with_name("best.json"), code=130).stderr


def test_mistakes_take_a_line(plan: Path, run: Run) -> None:
    for words, problem in (
        (["--search", "rat=log:0.1:1"], "unknown name 'rat' in the search, expected one of learner"),
        (["--search", "rate=0.1"], "found the range '0.1', expected log:LOW:HIGH"),
        (["--search", "rate"], "found --search rate, expected NAME=VALUE"),
        (["--timeout", "0"], "found 40 trials, 2 seeds and timeout=0.0, expected"),
        (["--storage", "mysql://here/there"], "found the storage mysql://..., which cannot be opened"),
    ):
        shown = run("tune", plan, "-o", plan.with_name("best.json"), *words, code=2).stderr
        assert problem in shown
        assert "Traceback" not in shown


def test_the_plan_is_not_overwritten(plan: Path, run: Run) -> None:
    assert "found a file that is read as the output" in run("tune", plan, "-o", plan, code=2).stderr
