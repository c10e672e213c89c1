"""Small problems with a known answer: logistic regression as an objective, written densely and without the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tagweave.kernels.mistakes import Moves, StepRule, Vectors, move
from tagweave.training.fit.recipe import LEARNERS

Floats = NDArray[Any]

SETTINGS: dict[str, dict[str, Any]] = {name: {} for name in LEARNERS} | {
    "lbfgs": {"c2": 0.1},
    "sgd": {"c2": 0.1},
    "pa": {"slack": 2},
    "arow": {"gamma": 2.0},
}
"""Settings with which every learner goes on for a while, at least four iterations."""


def problem_for(learner: str, **options: Any) -> Logistic:
    """A random problem, whose weights are those of a module for a learner that needs one."""
    return (NetworkLogistic if learner == "adamw" else Logistic).random(**options)


def order_of(seed: int, iteration: int, rows: int) -> NDArray[np.int64]:
    """The order in which an iteration visits the rows of a `Logistic`."""
    return np.random.default_rng([seed, iteration]).permutation(rows)


@dataclass
class Logistic:
    """loss(w) = sum_i log(1 + exp(-y_i x_i w)); a "sentence" is a row of x [n, d] with y_i = 1 or -1.

    `stop` says after how many calls for a batch the user presses Ctrl-C, `broken` from which call on the loss is nan.
    """

    x: Floats
    y: Floats
    dtype: Any = np.float64
    stop: int = -1
    broken: int = -1
    threads: int = 1

    @classmethod
    def random(cls, seed: int = 0, rows: int = 30, size: int = 8, dtype: Any = np.float64) -> Logistic:
        rng = np.random.default_rng(seed)
        x = rng.integers(-1, 3, (rows, size)) * (rng.random((rows, size)) < 0.5)
        return cls(x.astype(dtype), np.where(x @ rng.normal(size=size) + rng.normal(size=rows) > 0, 1, -1), dtype)

    @property
    def size(self) -> int:
        return self.x.shape[1]

    def __len__(self) -> int:
        return len(self.x)

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        return order_of(seed, iteration, len(self))

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        gradient = np.zeros(self.size, self.dtype)
        return self.add_batch(weights, 0, len(self), gradient), gradient

    def _count(self) -> bool:
        """Whether the loss of this call is nan."""
        self.stop -= 1
        self.broken -= 1
        if self.stop == 0:
            raise KeyboardInterrupt
        return self.broken == 0

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        broken = self._count()
        x, y = self.x[first:last], self.y[first:last]
        margins = y * (x @ weights)
        gradient -= (x * (y / (1 + np.exp(margins)))[:, None]).sum(axis=0).astype(self.dtype)
        return float("nan") if broken else float(np.logaddexp(0, -margins).sum())

    def correct(
        self, weights: Floats, memory: Floats, first: int, last: int, batch: int, step: int, rule: StepRule
    ) -> float:
        self._count()
        cost = 0.0
        for number, low in enumerate(range(first, last, batch), step):
            rows = slice(low, min(last, low + batch))
            x, y = self.x[rows], self.y[rows]
            wrong = np.where(x @ weights > 0, 1, -1) != y
            d = -(x * (y * wrong)[:, None]).sum(axis=0).astype(np.float64)
            if wrong.any():
                moves = Moves(np.arange(self.size), d)
                vectors = Vectors(weights, memory, np.zeros_like(weights))
                cost += int(wrong.sum()) * move(rule, vectors, moves, self.size, 1, 1.0, number)
        return cost

    def touched(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One block for every entry that is not 0, repeats included."""
        at = np.nonzero(self.x[first:last])[1].astype(np.int64)
        return at, at + 1

    def shuffled(self, order: NDArray[np.int64]) -> Logistic:
        other = Logistic(self.x[order], self.y[order], self.dtype)
        other._count = self._count  # type: ignore[method-assign]
        return other

    def regularised(self, weights: Floats, c2: float, c1: float = 0.0) -> float:
        return self.loss_and_gradient(weights)[0] + c2 * float(weights @ weights) + c1 * float(np.abs(weights).sum())


class Layer(nn.Module):
    """A module whose only parameter shares memory with a vector."""

    def __init__(self, weights: Floats) -> None:
        super().__init__()
        self.weight, self.size = nn.Parameter(torch.from_numpy(weights)), len(weights)

    def layers(self) -> list[tuple[int, list[nn.Parameter]]]:
        return [(0, [self.weight])]

    def views(self, vector: Floats) -> list[torch.Tensor]:
        return [torch.from_numpy(vector)]

    def freeze(self, layers: int) -> None:
        """No layer is below."""


class NetworkLogistic(Logistic):
    """A logistic regression whose weights are those of a module, which gets their gradient."""

    module: Layer | None = None

    def network(self, weights: Floats) -> Layer:
        if self.module is None or self.module.weight.data_ptr() != weights.ctypes.data:
            self.module = Layer(weights)
        return self.module

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        full = np.zeros(self.size, self.dtype)
        loss = super().add_batch(weights, first, last, full)
        weight = self.network(weights).weight
        weight.grad = torch.from_numpy(full) + (0 if weight.grad is None else weight.grad)
        return loss

    def touched(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def shuffled(self, order: NDArray[np.int64]) -> NetworkLogistic:
        other = NetworkLogistic(self.x[order], self.y[order], self.dtype)
        other._count, other.module = self._count, self.module  # type: ignore[method-assign]
        return other
