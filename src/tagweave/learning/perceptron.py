"""The averaged perceptron (Collins 2002; jiang-2015, Algorithm 1), and its latent form for evidence sets.

If the best sequence of a sentence contradicts its evidence, the weights move towards the best sequence that the
evidence allows (Sun et al. 2009; Fernandes and Brefeld 2011). With one label per position this is the ordinary
perceptron; without evidence nothing moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, whole
from tagweave.learning.trainer import Objective, State, StateRules, batches, state_weights

Floats = NDArray[Any]

_RUN = 500  # steps between points where training can be interrupted


class LazilyAveraged:
    """The state of a trainer whose result is a mean of weights that few steps move, computed at the end."""

    def start(self, objective: Objective, weights: Floats) -> State:
        """Weights, and the sum of updates times their steps, from which the average is computed."""
        totals = np.zeros(objective.size, np.float64)
        return State({"weights": weights.astype(objective.dtype), "totals": totals}, {"step": 0})

    def rules(self, objective: Objective) -> StateRules:
        """Weights, totals, and the number of steps made."""
        totals = ArrayRule(("float64",), (objective.size,), -LARGEST, LARGEST)
        return StateRules({"weights": state_weights(objective), "totals": totals}, {"step": whole()})


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
    batch: int = 1
    seed: int = 0
    epsilon: float = 0.0

    def fine_tuning(self) -> AveragedPerceptron:
        """Itself: it updates only on mistakes."""
        return self

    def step(self, objective: Objective, state: State) -> None:
        """One epoch; `loss` is the number of sentences with a mistake."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, totals = state.weights, state.arrays["totals"]
        mistakes, step = 0, int(state.numbers["step"])
        for first, last in batches(len(objective), _RUN * self.batch):
            mistakes += objective.correct(weights, totals, first, last, self.batch, step)
            step += -(-(last - first) // self.batch)
            state.numbers["step"] = step  # kept current, so that an interrupted epoch has an average too
        state.loss = float(mistakes)
        state.iteration += 1
        state.converged = mistakes == 0 or mistakes < self.epsilon * len(objective)

    def result(self, state: State) -> Floats:
        """The mean of the weights over all steps."""
        steps = max(1, state.numbers["step"])
        return (state.weights - state.arrays["totals"] / steps).astype(state.weights.dtype)
