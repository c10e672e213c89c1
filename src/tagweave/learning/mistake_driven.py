"""Learners that move the weights where the best labels of a sentence contradict its evidence.

The averaged perceptron (Collins 2002; jiang-2015, Algorithm 1), Passive-Aggressive learning (Crammer et al. 2006),
adaptive regularisation of weights (Crammer, Kulesza and Dredze 2009; Mejer and Crammer 2010), the last two as
CRFsuite's `pa` and `arow` have them. `kernels.mistakes` has their formulas.

The weights move towards the best labels that the evidence allows (Sun et al. 2009; Fernandes and Brefeld 2011). With
one label per position this is the ordinary perceptron; without evidence nothing moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, Whole
from tagweave.kernels import mistakes
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.trainer import (
    UNWATCHED,
    DecodingObjective,
    Learner,
    StateRules,
    TrainerState,
    Watch,
    state_weights,
)

Floats = NDArray[Any]

_RUN = 500  # steps between points where training can be interrupted


class MistakeDriven(Learner, ABC):
    """A learner that moves the weights by a rule where the best labels of a sentence contradict its evidence."""

    mistake_driven: ClassVar[bool] = True
    rule_memory: ClassVar[str] = "totals"  # the array of the state that the rule needs
    batch: int
    seed: int
    epsilon: float

    @property
    @abstractmethod
    def rule(self) -> StepRule:
        """How the weights move."""

    def step(self, objective: DecodingObjective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One epoch; `loss` is the sum of costs, for the perceptron the number of sentences with a mistake."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        memory, step, cost = state.arrays[self.rule_memory], int(state.numbers["step"]), 0.0
        for first, last in watch.batches(len(objective), _RUN * self.batch):
            cost += objective.correct(state.weights, memory, first, last, self.batch, step, self.rule)
            step += -(-(last - first) // self.batch)
            state.numbers["step"] = step  # kept current, so that an interrupted epoch has an average too
        state.loss = cost
        state.iteration += 1
        state.converged = self._is_settled(cost) or cost < self.epsilon * len(objective)

    def _is_settled(self, cost: float) -> bool:
        """Return whether an epoch of this cost is the last, since no later one would change the result."""
        return cost == 0


class LazilyAveraged(MistakeDriven):
    """The state of a trainer whose result is a mean of weights that few steps move, computed at the end."""

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        """Weights, and the sum of updates times their steps, from which the average is computed."""
        totals = np.zeros(objective.size, np.float64)
        return TrainerState({"weights": weights.astype(objective.dtype), "totals": totals}, {"step": 0})

    def rules(self, objective: DecodingObjective) -> StateRules:
        totals = ArrayRule(("float64",), (objective.size,), -LARGEST, LARGEST)
        return StateRules({"weights": state_weights(objective), "totals": totals}, {"step": Whole})

    def result(self, state: TrainerState) -> Floats:
        """Return the mean of the weights over all steps."""
        steps = max(1, state.numbers["step"])
        return (state.weights - state.arrays["totals"] / steps).astype(state.weights.dtype)


@dataclass(frozen=True)
class AveragedPerceptron(LazilyAveraged):
    """The perceptron with lazily averaged weights.

    Args:
        batch: sentences per update; 1 in textbooks.
        seed: seed of the order of sentences.
        epsilon: converged when a smaller share of the sentences than this has a mistake; 0: when none has.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 7
    ranges: ClassVar[Mapping[str, str]] = {"batch": "int-log:1:32"}
    batch: int = 1
    seed: int = 0
    epsilon: float = 0.0

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.PERCEPTRON)


@dataclass(frozen=True)
class PassiveAggressive(LazilyAveraged):
    """Passive-Aggressive learning, with lazily averaged weights.

    Args:
        slack: 0 for PA, which separates each sentence at once, 1 for PA-I, 2 for PA-II.
        c: the aggressiveness of PA-I and PA-II: no step is longer than c, or c bounds it softly.
        error_sensitive: whether the margin to win by is the root of the number of wrong positions; otherwise it is 1.
        averaging: whether the result is the mean of the weights over all steps, or the last ones.
        epsilon: converged when the mean cost of a sentence is below this. Without averaging, training also ends when no
            mistake is left; the average still moves towards weights that make none.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    may_be_zero: ClassVar[Sequence[str]] = ("slack",)
    ranges: ClassVar[Mapping[str, str]] = {"c": "log:0.001:1"}
    batch: ClassVar[int] = 1  # type: ignore[misc]  # no setting here
    slack: int = 1
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.slack not in (0, 1, 2):
            raise ValueError(f"found slack={self.slack!r}, expected 0 (PA), 1 (PA-I) or 2 (PA-II)")
        if not self.c > 0:
            raise ValueError(f"found c={self.c!r}, expected a number above 0")

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.PASSIVE_AGGRESSIVE, self.slack, float(self.c), self.error_sensitive)

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        """As other means, with the weights before the first step, which counts as one, as CRFsuite does it."""
        state = super().start(objective, weights)
        state.numbers["step"] = 1
        return state

    def _is_settled(self, cost: float) -> bool:
        return cost == 0 and not self.averaging

    def result(self, state: TrainerState) -> Floats:
        return super().result(state) if self.averaging else state.weights


@dataclass(frozen=True)
class AROW(MistakeDriven):
    """Adaptive regularisation of weights, the diagonal form.

    Args:
        variance: the variance of every weight at first.
        gamma: what a mistake costs less than a move: the larger, the shorter the steps.
        epsilon: converged when the mean cost of a sentence is below this; 0: when no mistake is left.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    rule_memory: ClassVar[str] = "variances"
    ranges: ClassVar[Mapping[str, str]] = {"variance": "log:0.01:10", "gamma": "log:0.1:100"}
    batch: ClassVar[int] = 1  # type: ignore[misc]  # no setting here
    variance: float = 1.0
    gamma: float = 1.0
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("variance", self.variance), ("gamma", self.gamma)):
            if not value > 0:
                raise ValueError(f"found {name}={value!r}, expected a number above 0")

    def fine_tuning(self) -> AROW:
        """With a tenth of the variance: the given weights are as certain as after many steps."""
        return replace(self, variance=0.1 * self.variance)

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        variances = np.full(objective.size, self.variance)
        return TrainerState({"weights": weights.astype(objective.dtype), "variances": variances}, {"step": 0})

    def rules(self, objective: DecodingObjective) -> StateRules:
        """As `start` makes them; variances are positive, since steps divide by them."""
        variances = ArrayRule(("float64",), (objective.size,), 1e-38, LARGEST)
        return StateRules({"weights": state_weights(objective), "variances": variances}, {"step": Whole})

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.AROW, bound=float(self.gamma))
