"""A fit that is stopped after any iteration and resumed gives the weights of one that was not, with the real loss."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest
from tagged import Impatient, tagged

from pairwise import pairwise
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Run, Schedule
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.fit.task import Task

ITERATIONS = 4


KNOWN = tagged("g", "ab/N cde/V f/O", "ab/V|N f/N", "cde/O ab/? cde/V", "f/V ab/N", "f/O cde/N|V")
UNKNOWN = tagged("g", "ab/N cde/? f/?", "ab/? f/N ab/?", "cde/? ab/? cde/V", "f/V ab/? f/?")
DEV = tagged("g", "ab/N f/V cde/O", "f/N ab/V")


def assert_same(one: Fitted, other: Fitted) -> None:
    assert one.model.weights.any()
    assert (one.model.weights == other.model.weights).all()
    assert one.outcome.score == other.outcome.score
    assert one.outcome.iterations == other.outcome.iterations


CASES = pairwise([None, DEV], ["tag", "segtag"], [KNOWN, UNKNOWN])


@pytest.mark.parametrize(("learner", "case"), [*zip(FEATURE_LEARNERS, cycle(CASES), strict=False)])
def test_stopped_and_resumed(learner: str, case: tuple[Corpus | None, str, Corpus], tmp_path: Path) -> None:
    dev, task, train = case
    recipe = Recipe(Task(task), learner=learner, settings={"rate": 0.1} if learner == "sgd" else {})
    whole = fit([train], recipe, dev, Run(Schedule(ITERATIONS)))
    for stop in range(1, 2 * ITERATIONS):
        schedule = Schedule(ITERATIONS, checkpoint=tmp_path / f"{stop}", identity="run")
        stopped = fit([train], recipe, dev, Run(schedule, Impatient(stop)))
        if not stopped.outcome.interrupted:
            assert_same(stopped, whole)
            break
        again = Schedule(ITERATIONS, checkpoint=tmp_path / f"{stop}", resume=True, identity="run")
        assert_same(fit([train], recipe, dev, Run(again)), whole)
    else:
        assert stop == 2 * ITERATIONS - 1
