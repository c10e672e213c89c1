"""Which parameter means what for which algorithm, and when training has settled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tagweave.estimators.fitting import ALGORITHMS, UntilSettled, algorithm_of, settings_of, trainer_of
from tagweave.learning.learners.lbfgs import LBFGS
from tagweave.learning.trainer import UNWATCHED, TrainerState, Watch
from tagweave.training.fit.recipe import LEARNERS


def test_every_algorithm_is_a_learner_that_takes_its_settings() -> None:
    for name, algorithm in ALGORITHMS.items():
        settings = settings_of(name, dict.fromkeys(algorithm.settings, 2))
        learner = LEARNERS[algorithm.learner](**settings)
        assert all(getattr(learner, key) == 2 for key in algorithm.settings.values())


def test_defaults_are_crfsuites() -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    for name in ("lbfgs", "l2sgd", "ap", "pa", "arow"):
        trainer = pycrfsuite.Trainer(algorithm=name, verbose=False)
        algorithm = ALGORITHMS[name]
        assert algorithm.iterations == trainer.get("max_iterations")
        learner = LEARNERS[algorithm.learner]()
        for parameter, setting in algorithm.settings.items():
            theirs = parameter.replace("calibration_", "calibration.").replace("pa_type", "type")
            assert getattr(learner, setting) == trainer.get(theirs)
        if algorithm.delta is not None:
            settled = trainer_of(name, learner, None, None)
            assert isinstance(settled, UntilSettled)
            assert (settled.period, settled.delta) == (trainer.get("period"), trainer.get("delta"))


def test_none_is_lbfgs_and_leaves_the_defaults() -> None:
    assert algorithm_of(None) is ALGORITHMS["lbfgs"]
    parameters: dict[str, Any] = {"c1": None, "c2": 0.5, "num_memories": 4, "period": None}
    assert settings_of(None, parameters) == {"c2": 0.5, "memory": 4}
    trainer = LBFGS()
    assert trainer_of(None, trainer, 3, 0.1) is trainer  # it tests for convergence itself


class Losses:
    """A trainer that only has losses."""

    def __init__(self, losses: list[float]) -> None:
        self.losses = losses

    def start(self, objective: Any, weights: Any) -> TrainerState:
        return TrainerState({"weights": weights})

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        state.loss = self.losses[state.iteration]
        state.iteration += 1

    def result(self, state: TrainerState) -> Any:
        return state.weights + state.iteration


def steps_until_settled(losses: list[float], period: int, delta: float) -> int | None:
    trainer = UntilSettled(Losses(losses), period, delta)  # type: ignore[arg-type]
    state = trainer.start(None, np.zeros(1))  # type: ignore[arg-type]
    for step in range(1, len(losses) + 1):
        trainer.step(None, state)  # type: ignore[arg-type]
        if state.converged:
            assert trainer.result(state) == [step]
            return step
    return None


@pytest.mark.parametrize(
    ("losses", "period", "expected"),
    [
        ([100, 50, 49, 48.9, 48.8], 1, 3),  # 50 -> 49 is 2 per cent
        ([100, 50, 49, 48.9, 48.8], 2, 4),  # 50 -> 48.9
        ([100, 50, 25, 12], 1, None),
        ([100, 120], 1, 2),  # a loss that rises has not fallen
        ([10, 10, 10], 3, None),  # too early to tell
        ([10, 10, 10, 10], 3, 4),
        ([0, 0], 1, None),  # not less than 0 times the share
    ],
)
def test_settled_is_a_small_fall_within_the_period(losses: list[float], period: int, expected: int | None) -> None:
    assert steps_until_settled(losses, period, 0.05) == expected
