"""Learners that move the weights where the best labels of a sentence contradict its evidence.

The weights move towards the best labels that the evidence allows (Sun et al. 2009; Fernandes and Brefeld 2011). With
one label per position this is the ordinary perceptron; without evidence nothing moves. The formulas are in
`kernels.mistakes`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, Whole
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
