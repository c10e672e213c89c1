"""Whoever watches training is told how far an iteration is, which changes nothing in it."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning import epoch_progress
from tagweave.learning.callback import Iteration
from tagweave.learning.run import Run, Schedule
from tagweave.training.fit import fit_problem, prepare
from tagweave.training.recipe import Recipe

CORPUS = Corpus(tuple(Sentence(("x", "y"), {"tag": (("A",), (label,))}) for label in "AB" * 20))


class Shown:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, float]] = []

    def iteration(self, iteration: Iteration, limit: int) -> None:
        pass

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        self.told.append((number, share))


@pytest.mark.parametrize("learner", ["adagrad", "sgd", "perceptron", "lbfgs"])
def test_shares_rise_in_every_iteration(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epoch_progress, "_EVERY", 0.0)
    recipe, shown = Recipe(learner=learner), Shown()
    watched = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2), shown))
    alone = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2)))
    assert np.array_equal(watched.model.weights, alone.model.weights)
    if learner != "lbfgs":  # whose iterations are not made of batches
        assert shown.told == sorted(shown.told)
        assert {number for number, share in shown.told if share == 1} == {1, 2}
