"""L-BFGS, and OWL-QN where weights have an L1 penalty.

    minimise  F(w) = loss(w) + c2 |w|^2 + c1 sum |w_i|

(Nocedal 1980; Andrew and Gao 2007). The direction comes from the compact form of Byrd, Nocedal and Schnabel (1994):
with S and Y the last m steps and gradient changes, R the upper triangle of S'Y, D its diagonal, and
gamma = s'y / y'y,

    H g = gamma g + [S, gamma Y] [[R^-T (D + gamma Y'Y) R^-1, -R^-T], [-R^-1, 0]] [S'g; gamma Y'g]

so that a step reads the history twice, in two matrix products, where the two-loop recursion reads it four times. The
history is kept in float32: it only shapes the direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels.blas import blas_threads
from tagweave.learning.trainer import Objective, State, add_l2

Floats = NDArray[Any]

_SHRINK, _ENOUGH, _TRIALS = 0.5, 1e-4, 20


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory quasi-Newton over all sentences.

    Args:
        c1: the L1 penalty; weights become exactly 0.
        c2: the L2 penalty (CRFsuite's: c2 |w|^2).
        memory: m, how many steps the curvature estimate remembers.
        epsilon: converged when |gradient| < epsilon max(1, |w|).
        period, delta: converged when F fell by less than the share delta in the last `period` iterations.
    """

    passes: ClassVar[int] = 200
    c1: float = 0.0
    c2: float = 1.0
    memory: int = 6
    epsilon: float = 1e-5
    period: int = 10
    delta: float = 1e-5

    def gentle(self) -> LBFGS:
        """Itself: its line search never goes up."""
        return self

    def start(self, objective: Objective, weights: Floats) -> State:
        """The loss and gradient at the initial weights, and an empty history."""
        weights = weights.astype(objective.dtype)
        loss, gradient = self._evaluate(objective, weights)
        arrays = {
            "weights": weights,
            "gradient": gradient,
            "history": np.zeros((2 * self.memory, objective.size), np.float32),
            "products": np.zeros((2 * self.memory, 2 * self.memory)),
            "past": np.full(self.period, np.inf),
        }
        return State(arrays, {"pairs": 0}, loss=loss)

    def step(self, objective: Objective, state: State) -> None:
        """One step of the line search's choice along the quasi-Newton direction."""
        weights, gradient = state.weights, state.arrays["gradient"]
        slope = self._pseudo_gradient(weights, gradient)
        norm = float(np.linalg.norm(slope))
        if norm < self.epsilon * max(1.0, float(np.linalg.norm(weights))):
            state.converged = True
            return
        with blas_threads(objective.threads):
            direction = self._direction(state, slope)
        found = self._search(
            objective, state.loss, weights, slope, direction, 1.0 if state.numbers["pairs"] else 1 / norm
        )
        if found is None and state.numbers["pairs"]:  # a stale history: fall back to steepest descent
            state.numbers["pairs"] = 0
            found = self._search(objective, state.loss, weights, slope, -slope, 1 / norm)
        if found is None:
            state.converged = True
            return
        new, loss, new_gradient = found
        with blas_threads(objective.threads):
            self._remember(state, new - weights, new_gradient - gradient)
        state.arrays["weights"], state.arrays["gradient"] = new, new_gradient
        past = state.arrays["past"]
        before = past[state.iteration % self.period]
        past[state.iteration % self.period] = loss
        state.converged = bool(np.isfinite(before) and (before - loss) < self.delta * abs(loss))
        state.loss = loss
        state.iteration += 1

    def result(self, state: State) -> Floats:
        """The last weights."""
        return state.weights

    def _evaluate(self, objective: Objective, weights: Floats) -> tuple[float, Floats]:
        loss, gradient = objective.loss_and_gradient(weights)
        loss = add_l2(self.c2, weights, loss, gradient)
        if self.c1:
            loss += self.c1 * float(np.abs(weights).sum())
        return loss, gradient

    def _pseudo_gradient(self, weights: Floats, gradient: Floats) -> Floats:
        """The gradient of F, at 0 the one-sided one that falls most steeply (Andrew and Gao 2007, equation 4)."""
        if not self.c1:
            return gradient
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self.c1, 0)
        return np.where(weights != 0, gradient + self.c1 * np.sign(weights), at_zero).astype(gradient.dtype)

    def _direction(self, state: State, slope: Floats) -> Floats:
        pairs = int(state.numbers["pairs"])
        m, held = self.memory, min(int(state.numbers["pairs"]), self.memory)
        if held == 0:
            return -slope
        rows = [(pairs - held + i) % m for i in range(held)]
        products = state.arrays["products"]
        R = np.triu(products[np.ix_(rows, [m + r for r in rows])])
        YY = products[np.ix_([m + r for r in rows], [m + r for r in rows])]
        gamma = R[-1, -1] / YY[-1, -1]
        history = state.arrays["history"]
        slope32 = slope.astype(np.float32)
        reach = (history @ slope32).astype(np.float64)
        p, q = reach[rows], gamma * reach[[m + r for r in rows]]
        inner = np.linalg.solve(R, p)
        top = np.linalg.solve(R.T, (np.diag(np.diag(R)) + gamma * YY) @ inner - q)
        coefficients = np.zeros(2 * m, np.float32)
        coefficients[rows], coefficients[[m + r for r in rows]] = top, -gamma * inner
        step = coefficients @ history
        step += np.float32(gamma) * slope32
        direction = -step.astype(slope.dtype)
        if self.c1:
            direction[direction * slope >= 0] = 0
        return direction if float(direction @ slope) < 0 else -slope

    def _search(
        self, objective: Objective, loss: float, weights: Floats, slope: Floats, direction: Floats, length: float
    ) -> tuple[Floats, float, Floats] | None:
        """Backtracking until F falls enough; with an L1 penalty within the orthant of the weights."""
        orthant = np.where(weights != 0, np.sign(weights), -np.sign(slope)) if self.c1 else None
        falls = float(direction @ slope)
        for _ in range(_TRIALS):
            new = weights + weights.dtype.type(length) * direction
            if orthant is not None:
                new[new * orthant < 0] = 0
                falls = float((new - weights) @ slope) / length
            new_loss, gradient = self._evaluate(objective, new)
            if np.isfinite(new_loss) and new_loss <= loss + _ENOUGH * length * falls:
                return new, new_loss, gradient
            length *= _SHRINK
        return None

    def _remember(self, state: State, s: Floats, y: Floats) -> None:
        """Enter a pair into the history, unless it has no curvature, and its products with the others."""
        curvature = float(s @ y)
        if curvature <= 1e-10 * float(y @ y):
            return
        m, row = self.memory, int(state.numbers["pairs"]) % self.memory
        history, products = state.arrays["history"], state.arrays["products"]
        history[row], history[m + row] = s, y
        columns = history @ history[[row, m + row]].T
        for at, column in ((row, columns[:, 0]), (m + row, columns[:, 1])):
            products[at, :] = products[:, at] = column
        products[row, m + row] = products[m + row, row] = curvature
        state.numbers["pairs"] += 1
