"""Rprop-: every weight has its own step, adapted by the sign of its gradient alone (Riedmiller 1994)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import update
from tagweave.learning.trainer import Objective, State, StateRules, add_l2, state_weights

Floats = NDArray[Any]


@dataclass(frozen=True)
class Rprop:
    """Batch training by the signs of gradients.

    Args:
        c2: the regulariser is c2 |w|^2.
        first, growth, shrink, most, least: the first step of a weight, how it changes, and its bounds.
    """

    epochs: ClassVar[int] = 50
    vectors: ClassVar[int] = 6
    c2: float = 0.0
    first: float = 0.1
    growth: float = 1.2
    shrink: float = 0.5
    most: float = 5.0
    least: float = 1e-8

    def fine_tuning(self) -> Rprop:
        """Itself: it uses the signs of gradients, not their sizes."""
        return self

    def start(self, objective: Objective, weights: Floats) -> State:
        """Weights, their rates and the last gradient."""
        dtype = objective.dtype
        arrays = {
            "weights": weights.astype(dtype),
            "rates": np.full(objective.size, self.first, dtype),
            "previous": np.zeros(objective.size, dtype),
        }
        return State(arrays)

    def rules(self, objective: Objective) -> StateRules:
        """Weights, their rates and the last gradient."""
        weights = state_weights(objective)
        rates = replace(weights, least=0, most=self.most)
        return StateRules({"weights": weights, "rates": rates, "previous": weights})

    def step(self, objective: Objective, state: State) -> None:
        """One epoch: one step of every weight."""
        weights = state.weights
        loss, gradient = objective.loss_and_gradient(weights)
        loss = add_l2(self.c2, weights, loss, gradient)
        previous, rates = state.arrays["previous"], state.arrays["rates"]
        bounds = tuple(weights.dtype.type(x) for x in (self.growth, self.shrink, self.most, self.least))
        update.rprop(weights, gradient, previous, rates, 0, len(weights), *bounds)
        state.loss = loss
        state.iteration += 1

    def result(self, state: State) -> Floats:
        """The last weights."""
        return state.weights
