"""L-BFGS, and OWL-QN where weights have an L1 penalty.

    minimise  F(w) = loss(w) + c2 |w|^2 + c1 sum |w_i|

(Nocedal 1980; Andrew and Gao 2007). The direction comes from the compact form of Byrd, Nocedal and Schnabel (1994):
with S and Y the last m steps and gradient changes, R the upper triangle of S'Y, D its diagonal, and
gamma = s'y / y'y,

    H g = gamma g + [S, gamma Y] [[R^-T (D + gamma Y'Y) R^-1, -R^-T], [-R^-1, 0]] [S'g; gamma Y'g]

so a step reads the history once for H g, where the two-loop recursion reads it four times: S'g and Y'g are computed as
soon as g is known, together with the products of the new pair. The history is float32: it only shapes the direction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, Whole
from tagweave.kernels import weight_vectors
from tagweave.kernels.weight_vectors import dot
from tagweave.learning.trainer import (
    UNWATCHED,
    Learner,
    Objective,
    StateRules,
    TrainerState,
    Watch,
    regularised,
    state_weights,
)

Floats = NDArray[Any]


_SHRINK, _ENOUGH = 0.5, 1e-4
_MOST = 1e100  # limit for products of a history read from a file


@dataclass(frozen=True)
class LBFGS(Learner):
    """Limited-memory quasi-Newton over all sentences.

    Args:
        c1: the L1 penalty; weights become exactly 0.
        c2: the L2 penalty (CRFsuite's: c2 |w|^2).
        memory: m, the number of steps in the curvature estimate.
        epsilon: converged when |gradient| < epsilon max(1, |w|).
        period: the number of iterations over which `delta` is measured.
        delta: converged when the loss fell by less than this share.
        trials: how many steps of a line search to try, each half as long as the one before.
    """

    epochs: ClassVar[int] = 200
    vectors: ClassVar[int] = 9
    ranges: ClassVar[Mapping[str, str]] = {"c2": "log:0.01:10"}
    c1: float = 0.0
    c2: float = 1.0
    memory: int = 6
    epsilon: float = 1e-5
    period: int = 10
    delta: float = 1e-5
    trials: int = 20

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        """Return the loss and gradient at the initial weights, and an empty history."""
        weights = weights.astype(objective.dtype)
        loss, gradient = self._evaluate(objective, weights, UNWATCHED)
        arrays = {
            "weights": weights,
            "gradient": gradient,
            "history": np.zeros((2 * self._slots, objective.size), np.float32),
            "products": np.zeros((2 * self._slots, 2 * self._slots)),
            "reach": np.zeros(2 * self._slots),
            "past": np.full(self.period, np.inf),
        }
        return TrainerState(arrays, {"pairs": 0}, loss=loss)

    def rules(self, objective: Objective) -> StateRules:
        """Weights, their gradient, the history and its products, and the last values of F."""
        rows, weights = 2 * self._slots, state_weights(objective)
        arrays = {
            "weights": weights,
            "gradient": weights,
            "history": ArrayRule(("float32",), (rows, objective.size), -LARGEST, LARGEST),
            "products": ArrayRule(("float64",), (rows, rows), -_MOST, _MOST),
            "reach": ArrayRule(("float64",), (rows,), -_MOST, _MOST),
            "past": ArrayRule(("float64",), (self.period,)),
        }
        return StateRules(arrays, {"pairs": Whole})

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One line search along the quasi-Newton direction."""
        weights, gradient = state.weights, state.arrays["gradient"]
        slope = self._pseudo_gradient(weights, gradient)
        norm = sqrt(dot(slope, slope))
        if norm < self.epsilon * max(1.0, sqrt(dot(weights, weights))):
            state.converged = True
            return
        direction = self._direction(objective, state, slope)
        length = 1.0 if state.numbers["pairs"] else 1 / norm
        point = self._search(objective, state, slope, direction, length, watch)
        if point is None and state.numbers["pairs"]:  # a stale history: fall back to steepest descent
            state.numbers["pairs"] = 0
            point = self._search(objective, state, slope, -slope, 1 / norm, watch)
        if point is None:
            state.converged = True
            return
        new, loss, new_gradient = point
        self._remember(objective, state, new, new_gradient)
        state.arrays["weights"], state.arrays["gradient"] = new, new_gradient
        past = state.arrays["past"]
        before = past[state.iteration % self.period]
        past[state.iteration % self.period] = loss
        state.converged = bool(np.isfinite(before) and (before - loss) < self.delta * abs(loss))
        state.loss = loss
        state.iteration += 1

    def _evaluate(self, objective: Objective, weights: Floats, watch: Watch) -> tuple[float, Floats]:
        loss, gradient = regularised(objective, weights, self.c2, watch)
        if self.c1:
            loss += self.c1 * float(np.abs(weights).sum())
        return loss, gradient

    def _pseudo_gradient(self, weights: Floats, gradient: Floats) -> Floats:
        """The gradient of F; at 0, the one-sided gradient of steepest descent (Andrew and Gao 2007, equation 4)."""
        if not self.c1:
            return gradient
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self.c1, 0)
        return np.where(weights != 0, gradient + self.c1 * np.sign(weights), at_zero).astype(gradient.dtype)

    @property
    def _slots(self) -> int:
        """One pair more than is used, so that a pair without curvature never overwrites one with curvature."""
        return self.memory + 1

    def _direction(self, objective: Objective, state: TrainerState, slope: Floats) -> Floats:
        """-H slope, from the products of the history with itself and with slope; -slope if that points uphill."""
        pairs = int(state.numbers["pairs"])
        held = min(pairs, self.memory)
        if held == 0:
            return -slope
        s_rows = np.arange(pairs - held, pairs) % self._slots
        y_rows = s_rows + self._slots
        products, reach = state.arrays["products"], state.arrays["reach"]
        R, YY = np.triu(products[np.ix_(s_rows, y_rows)]), products[np.ix_(y_rows, y_rows)]
        if not (np.diag(R) > 0).all() or not YY[-1, -1] > 0:  # possible only in a history read from a file
            return -slope
        gamma = R[-1, -1] / YY[-1, -1]
        inner = np.linalg.solve(R, reach[s_rows])
        middle = (np.diag(np.diag(R)) + gamma * YY) @ inner - gamma * reach[y_rows]
        top = np.linalg.solve(R.T, middle)
        coefficients = np.zeros(2 * self._slots, np.float32)
        coefficients[s_rows], coefficients[y_rows] = top, -gamma * inner
        direction = np.empty_like(slope)
        history = state.arrays["history"]
        _share(
            objective,
            lambda low, high: weight_vectors.combine(
                history, coefficients, np.float32(gamma), slope, low, high, direction
            ),
        )
        if self.c1:
            direction[direction * slope >= 0] = 0
        return direction if dot(direction, slope) < 0 else -slope

    def _search(
        self, objective: Objective, state: TrainerState, slope: Floats, direction: Floats, length: float, watch: Watch
    ) -> tuple[Floats, float, Floats] | None:
        """Backtrack until F falls enough; with an L1 penalty, within the orthant of the weights."""
        weights = state.weights
        orthant = np.where(weights != 0, np.sign(weights), -np.sign(slope)) if self.c1 else None
        falls = dot(direction, slope)
        for _ in range(self.trials):
            new = weights + weights.dtype.type(length) * direction
            if orthant is not None:
                new[new * orthant < 0] = 0
                falls = dot(new - weights, slope) / length
            new_loss, gradient = self._evaluate(objective, new, watch)
            if np.isfinite(new_loss) and new_loss <= state.loss + _ENOUGH * length * falls:
                return new, new_loss, gradient
            length *= _SHRINK
        return None

    def _remember(self, objective: Objective, state: TrainerState, weights: Floats, gradient: Floats) -> None:
        """Add the step to new weights and their gradient to the history, unless it has no curvature, and compute the
        products of all rows with it and with the new slope."""
        slot, history = int(state.numbers["pairs"]) % self._slots, state.arrays["history"]
        slope = self._pseudo_gradient(weights, gradient)
        before, gradient_before = state.weights, state.arrays["gradient"]

        def enter(low: int, high: int) -> Floats:
            sums = np.zeros((len(history), 3))
            weight_vectors.enter(history, slot, before, weights, gradient_before, gradient, slope, low, high, sums)
            return sums

        sums = np.sum(_share(objective, enter), axis=0)
        products = state.arrays["products"]
        for row, column in ((slot, 0), (self._slots + slot, 1)):
            products[row, :] = products[:, row] = sums[:, column]
        state.arrays["reach"] = sums[:, 2]
        if products[slot, self._slots + slot] > 1e-10 * products[self._slots + slot, self._slots + slot]:
            state.numbers["pairs"] += 1


def _share(objective: Objective, work: Callable[[int, int], Any]) -> list[Any]:
    """Call work(first, last) for one range of the weights on every thread."""
    bounds = np.linspace(0, objective.size, objective.threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(objective.threads) as pool:
        return list(pool.map(work, bounds[:-1], bounds[1:]))


LEARNER = LBFGS
