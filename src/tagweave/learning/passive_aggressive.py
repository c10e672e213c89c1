"""Passive-Aggressive learning of structures (Crammer et al. 2006, sections 5 and 9), as CRFsuite's `pa` does it.

A sentence whose best labels contradict its evidence moves the weights by the least that makes good the mistake: with
d = features(best) - features(best allowed), and k wrong positions,

    cost = w'd + sqrt(k)      tau = cost / |d|^2                  PA, no slack
                              tau = min(c, cost / |d|^2)          PA-I
                              tau = cost / (|d|^2 + 1 / (2 c))    PA-II
    w -= tau d

All other sentences leave the weights alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.difference import Difference, difference_of
from tagweave.learning.perceptron import LazilyAveraged
from tagweave.learning.trainer import Objective, State

Floats = NDArray[Any]


@dataclass(frozen=True)
class PassiveAggressive(LazilyAveraged):
    """Passive-Aggressive learning, with lazily averaged weights.

    Args:
        slack: 0 for PA, which separates each sentence at once, 1 for PA-I, 2 for PA-II.
        c: the aggressiveness of PA-I and PA-II: no step is longer than c, or c bounds it softly.
        error_sensitive: whether the cost counts the wrong positions, as above; else it is w'd + 1.
        averaging: whether the result is the mean of the weights over all steps, or the last ones.
        epsilon: converged when the mean cost of a sentence is below this. Without averaging, training also ends when no
            mistake is left; the average still moves towards weights that make none.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    batch: ClassVar[int] = 1
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

    def fine_tuning(self) -> PassiveAggressive:
        """Itself: it moves only on mistakes, and no further than needed."""
        return self

    def step(self, objective: Objective, state: State) -> None:
        """One epoch; `loss` is the sum of costs."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, totals, loss = state.weights, state.arrays["totals"], 0.0
        gradient = np.zeros(objective.size, objective.dtype)
        for sentence in range(len(objective)):
            state.numbers["step"] += 1
            if (mistake := difference_of(objective, weights, sentence, gradient)) is None:
                continue
            cost = mistake.margin(weights) + (sqrt(mistake.errors) if self.error_sensitive else 1.0)
            move = -self._length(cost, mistake) * mistake.weight * mistake.by
            weights[mistake.at] += move.astype(weights.dtype)
            totals[mistake.at] += state.numbers["step"] * move
            loss += cost * mistake.weight
        state.loss = loss
        state.iteration += 1
        state.converged = (loss == 0 and not self.averaging) or loss < self.epsilon * len(objective)

    def _length(self, cost: float, mistake: Difference) -> float:
        """tau."""
        if self.slack == 1:
            return min(self.c, cost / mistake.squared)
        return cost / (mistake.squared + (0.5 / self.c if self.slack else 0.0))

    def result(self, state: State) -> Floats:
        """The mean of the weights before the first step and after each, or the last weights."""
        if not self.averaging:
            return state.weights
        steps = state.numbers["step"] + 1
        mean: Floats = (state.weights - state.arrays["totals"] / steps).astype(state.weights.dtype)
        return mean
