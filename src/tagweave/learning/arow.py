"""Adaptive regularisation of weights (Crammer, Kulesza and Dredze 2009) for structures (Mejer and Crammer 2010).

Every weight has a variance, which falls with each step of its own: what was seen often moves little. A sentence whose
best labels contradict its evidence, with d = features(best) - features(best allowed) and k wrong positions, makes

    alpha = (w'd + k) / (gamma + sum_i d_i^2 variance_i)
    w_i -= alpha variance_i d_i           1 / variance_i += d_i^2 / gamma

as CRFsuite's `arow` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.difference import difference_of
from tagweave.learning.trainer import Objective, State, StateRules, state_weights

Floats = NDArray[Any]


@dataclass(frozen=True)
class AROW:
    """Adaptive regularisation of weights, the diagonal form.

    Args:
        variance: the variance of every weight at first.
        gamma: what a mistake costs less than a move: the larger, the shorter the steps.
        epsilon: converged when the mean cost of a sentence is below this; 0: when no mistake is left.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 6
    batch: ClassVar[int] = 1
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

    def start(self, objective: Objective, weights: Floats) -> State:
        """Weights and their variances."""
        variances = np.full(objective.size, self.variance, objective.dtype)
        return State({"weights": weights.astype(objective.dtype), "variances": variances})

    def rules(self, objective: Objective) -> StateRules:
        """As `start` makes them; variances are positive, since steps divide by them."""
        weights = state_weights(objective)
        return StateRules({"weights": weights, "variances": replace(weights, least=1e-38)})

    def step(self, objective: Objective, state: State) -> None:
        """One epoch; `loss` is the sum of costs."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, variances, loss = state.weights, state.arrays["variances"], 0.0
        gradient = np.zeros(objective.size, objective.dtype)
        for sentence in range(len(objective)):
            if (mistake := difference_of(objective, weights, sentence, gradient)) is None:
                continue
            own, squares = variances[mistake.at].astype(np.float64), mistake.by**2
            cost = mistake.margin(weights) + mistake.errors
            alpha = cost / (self.gamma + float(squares @ own))
            weights[mistake.at] -= (alpha * mistake.weight * own * mistake.by).astype(weights.dtype)
            least = np.finfo(variances.dtype).tiny
            variances[mistake.at] = np.maximum(own / (1 + own * squares / self.gamma), least)
            loss += cost * mistake.weight
        state.loss = loss
        state.iteration += 1
        state.converged = loss == 0 or loss < self.epsilon * len(objective)

    def result(self, state: State) -> Floats:
        """The last weights."""
        return state.weights
