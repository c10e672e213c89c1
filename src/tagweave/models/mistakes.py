"""Perceptron steps of objectives that sum the mistakes of a batch like a gradient."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import update

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]


class MistakeObjective(Protocol):
    """An objective whose mistakes can be summed."""

    dtype: Any

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    def add_mistakes(self, weights: Floats, first: int, last: int, gradient: Floats) -> int:
        """Adds features(best) - features(best allowed) where the best contradicts the evidence. Returns how often."""
        ...

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks of the vector."""
        ...


def correct_mistakes(
    objective: MistakeObjective, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int
) -> int:
    """Subtract mistakes from the weights and, times the number of the step, from the totals. Returns their number.

    Arguments are those of `tagweave.learning.trainer.Objective.correct`.
    """
    gradient, mistakes = np.zeros(objective.size, objective.dtype), 0
    for number, start in enumerate(range(first, last, batch), step):
        stop = min(start + batch, last)
        if wrong := objective.add_mistakes(weights, start, stop, gradient):
            mistakes += wrong
            update.average(weights, totals, gradient, *objective.touched(start, stop), number)
    return mistakes
