"""Maps the parameters of an estimator to a learner, with CRFsuite's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.estimators.parameters import check
from tagweave.features.rules import ArrayRule
from tagweave.learning.trainer import UNWATCHED, Objective, StateRules, Trainer, TrainerAround, TrainerState, Watch

Floats = NDArray[Any]


@dataclass(frozen=True)
class Algorithm:
    """One value of the parameter `algorithm`."""

    learner: str  # the name of the learner in a recipe
    settings: Mapping[str, str]  # the parameters that it takes, with their names in the recipe
    iterations: int  # the default of `max_iterations`
    delta: float | None = None  # the default of `delta`; `None` if the learner tests for convergence itself
    weighs: bool = True  # whether it supports sentence weights
    ignored: tuple[str, ...] = ()  # parameters of CRFsuite's that it takes and that change nothing


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_UNLIMITED = 2**31 - 1
PERIOD = 10

ALGORITHMS: Mapping[str, Algorithm] = {
    "lbfgs": Algorithm(
        "lbfgs",
        {**_same("c1", "c2", "epsilon", "period", "delta"), "num_memories": "memory", "max_linesearch": "trials"},
        _UNLIMITED,
        ignored=("linesearch",),
    ),
    "l2sgd": Algorithm(
        "sgd",
        {**_same("c2"), "calibration_eta": "trial", "calibration_rate": "growth", "calibration_samples": "sample"},
        1000,
        delta=1e-6,
        ignored=("calibration_candidates", "calibration_max_trials"),
    ),
    "ap": Algorithm("perceptron", _same("epsilon"), 100, weighs=False),
    "pa": Algorithm("pa", {**_same("c", "error_sensitive", "averaging", "epsilon"), "pa_type": "slack"}, 100),
    "arow": Algorithm("arow", _same("variance", "gamma", "epsilon"), 100),
    "adagrad": Algorithm("adagrad", _same(), 100, delta=1e-5),
    "rprop": Algorithm("rprop", _same("c2"), 100, delta=1e-5),
    "cg": Algorithm("cg", _same("c2"), 100),
}
"""The algorithms by name. The first five are CRFsuite's, with its defaults."""


def algorithm_of(name: str | None) -> Algorithm:
    """Look up an algorithm; `None` is L-BFGS. Raises ValueError for an unknown name."""
    if (name or "lbfgs") not in ALGORITHMS:
        raise ValueError(f"unknown algorithm {name!r}, expected one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name or "lbfgs"]


def settings_of(name: str | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the recipe's learner. Raise ValueError for a parameter that is wrong, or not its own."""
    algorithm = algorithm_of(name)
    present = {key: value for key, value in parameters.items() if value is not None}
    stopping = () if algorithm.delta is None else ("period", "delta")
    for key, value in present.items():
        if key not in (*algorithm.settings, *algorithm.ignored, *stopping):
            raise ValueError(f"{key}={value!r}: the algorithm {name or 'lbfgs'!r} has no such parameter, leave it None")
        check(key, value)
    return {algorithm.settings[key]: value for key, value in present.items() if key in algorithm.settings}


@dataclass(frozen=True)
class UntilSettled(TrainerAround):
    """A trainer with CRFsuite's stopping criterion: (loss `period` iterations ago - loss) / loss < `delta`."""

    period: int = PERIOD
    delta: float = 1e-5

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        state = super().start(objective, weights)
        state.arrays["past"] = np.full(self.period, np.inf)
        return state

    def rules(self, objective: Objective) -> StateRules:
        own = super().rules(objective)
        return replace(own, arrays={**own.arrays, "past": ArrayRule(("float64",), (self.period,))})

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        super().step(objective, state, watch)
        past, at = state.arrays["past"], state.iteration % self.period
        before, past[at] = past[at], state.loss
        state.converged |= bool(np.isfinite(before) and before - state.loss < self.delta * abs(state.loss))


def trainer_of(name: str | None, trainer: Trainer, period: int | None, delta: float | None) -> Trainer:
    """The trainer of an algorithm, stopped by its loss unless it tests for convergence itself."""
    default = algorithm_of(name).delta
    if default is None:
        return trainer
    return UntilSettled(trainer, PERIOD if period is None else period, default if delta is None else delta)
