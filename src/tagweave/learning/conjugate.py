"""SciPy's nonlinear conjugate gradient, the optimiser of tsuboi-2008."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule
from tagweave.learning.trainer import Objective, State, StateRules

Floats = NDArray[Any]


@dataclass(frozen=True)
class ConjugateGradient:
    """SciPy's Polak-Ribiere conjugate gradient, restarted every `restart` steps so that training can be resumed.

    Args:
        c2: the regulariser is c2 |w|^2 (tsuboi-2008: |w|^2 / (2 sigma^2)).
        restart: steps per iteration.
        tolerance: converged when the largest entry of the gradient is below it.
    """

    epochs: ClassVar[int] = 20
    vectors: ClassVar[int] = 14
    c2: float = 1.0
    restart: int = 10
    tolerance: float = 1e-2

    def fine_tuning(self) -> ConjugateGradient:
        """Itself: its line search never increases the loss."""
        return self

    def start(self, objective: Objective, weights: Floats) -> State:
        """The weights."""
        return State({"weights": weights.astype(np.float64)})

    def rules(self, objective: Objective) -> StateRules:
        """Weights."""
        return StateRules({"weights": ArrayRule(("float64",), (objective.size,), -LARGEST, LARGEST)})

    def step(self, objective: Objective, state: State) -> None:
        """`restart` steps of conjugate gradient."""
        from scipy.optimize import minimize

        def evaluate(weights: Floats) -> tuple[float, Floats]:
            loss, gradient = objective.loss_and_gradient(weights.astype(objective.dtype))
            return loss + self.c2 * float(weights @ weights), gradient + 2 * self.c2 * weights

        options = {"maxiter": self.restart, "gtol": self.tolerance}
        minimum = minimize(evaluate, state.weights, jac=True, method="CG", options=options)
        state.converged = bool(minimum.success) or bool(np.array_equal(minimum.x, state.weights))
        state.arrays["weights"], state.loss = minimum.x, float(minimum.fun)
        state.iteration += 1

    def result(self, state: State) -> Floats:
        """The last weights."""
        return state.weights
