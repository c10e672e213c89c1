"""Progress within an iteration is reported, and reporting does not change training."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning import trainer
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.training.fit import fit_problem, prepare
from tagweave.training.recipe import Recipe

CORPUS = Corpus(tuple(Sentence(("x", "y"), {"tag": (("A",), (label,))}) for label in "AB" * 20))


class Shown:
    """Keeps the shares reported."""

    def __init__(self) -> None:
        self.shares: list[tuple[int, float]] = []

    def iteration(self, iteration: Iteration, limit: int) -> None:
        pass

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        self.shares.append((number, share))


@pytest.mark.parametrize("learner", ["adagrad", "sgd", "perceptron", "lbfgs"])
def test_shares_rise_in_every_iteration(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "_EVERY", 0.0)
    recipe, shown = Recipe(learner=learner), Shown()
    watched = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2), shown))
    alone = fit_problem(prepare([CORPUS], recipe), recipe, run=Run(Schedule(2)))
    assert np.array_equal(watched.model.weights, alone.model.weights)
    if learner != "lbfgs":  # whose iterations are not made of batches
        assert shown.shares == sorted(shown.shares)
        assert {number for number, share in shown.shares if share == 1} == {1, 2}
