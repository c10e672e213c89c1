"""Several seeds side by side against trainings one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convex import Logistic

from tagweave.errors import PlanError
from tagweave.learning.learners.adagrad import AdaGrad
from tagweave.learning.learners.perceptron import AveragedPerceptron
from tagweave.learning.learners.sgd import SGD
from tagweave.learning.loop import load_checkpoint, save_checkpoint, train
from tagweave.learning.run import Run, Schedule
from tagweave.learning.seed_average import SeedAverage
from tagweave.learning.trainer import UNWATCHED, TrainerState, Watch
from tagweave.training.fit.recipe import Recipe
from tagweave.training.plan import Plan

EPOCHS = 4
LEARNERS = (AdaGrad, SGD, AveragedPerceptron)


def learned(trainer: Any, epochs: int = EPOCHS) -> Any:
    objective = Logistic.random(1)
    return train(trainer, objective, np.zeros(objective.size), Run(Schedule(epochs))).weights


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_result_is_the_mean_of_trainings_with_these_seeds(learner: Any) -> None:
    single = [learned(learner(seed=seed)) for seed in (5, 6, 7)]
    assert not np.allclose(single[0], single[1])
    np.testing.assert_allclose(learned(SeedAverage.of(learner(seed=5), 3)), np.mean(single, axis=0), rtol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_checkpoint_has_all_of_it(learner: Any, tmp_path: Path) -> None:
    objective, trainer = Logistic.random(1), SeedAverage.of(learner(), 3)
    state = trainer.start(objective, np.zeros(objective.size))
    trainer.step(objective, state)
    save_checkpoint(tmp_path / "state", state, {"weights": None, "score": None, "wait": 0}, "run")
    loaded, _ = load_checkpoint(tmp_path / "state", "run", trainer.rules(objective))
    for each in (state, loaded):
        trainer.step(objective, each)
    np.testing.assert_array_equal(trainer.result(loaded), trainer.result(state))


class Stopping:
    """A trainer that is stopped in an iteration, before it has done anything."""

    def __init__(self, trainer: Any, at: int) -> None:
        self._trainer, self._at = trainer, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trainer, name)

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        if state.iteration == self._at:
            raise KeyboardInterrupt
        self._trainer.step(objective, state)


def test_an_interrupt_leaves_the_mean_of_what_each_has_done() -> None:
    stopped = learned(SeedAverage((AdaGrad(seed=0), Stopping(AdaGrad(seed=1), 2), AdaGrad(seed=2))))
    done = [learned(AdaGrad(seed=seed), epochs) for seed, epochs in ((0, 3), (1, 2), (2, 2))]
    np.testing.assert_allclose(stopped, np.mean(done, axis=0), rtol=1e-12)


def test_weights_that_are_no_numbers_end_it() -> None:
    objective, trainer = Logistic.random(1), SeedAverage.of(AdaGrad(), 2)
    state = trainer.start(objective, np.zeros(objective.size))
    state.arrays["1.weights"][0] = np.inf
    with np.errstate(all="ignore"):
        trainer.step(objective, state)
    assert np.isnan(state.loss)


def test_recipes_take_seeds_of_learners_that_have_them() -> None:
    trainer = Recipe(settings={"seed": 3}, average_seeds=2).trainer()
    assert [each.seed for each in trainer.trainers] == [3, 4]
    assert trainer.batch == Recipe().trainer().batch
    with pytest.raises(ValueError, match="found `average_seeds=2` with the learner lbfgs, expected one of adagrad"):
        Recipe(learner="lbfgs", average_seeds=2)
    with pytest.raises(PlanError, match="found `average_seeds=0`, expected a whole number from 1"):
        Plan(average_seeds=0)
