"""Perceptron steps of objectives that add up the mistakes of a batch as they add up a gradient."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import update

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]


class Mistaken(Protocol):
    """An objective whose mistakes can be added up."""

    dtype: Any

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    def add_mistakes(self, weights: Floats, first: int, last: int, gradient: Floats) -> int:
        """Adds features(best) - features(best allowed) of what contradicts its evidence; returns how many do."""
        ...

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that these can touch, as blocks of the vector."""
        ...


def corrected(
    objective: Mistaken, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int
) -> int:
    """Take the mistakes from the weights, and times the number of the step from the totals; how many there were.

    Arguments are those of `tagweave.learning.trainer.Objective.correct`.
    """
    gradient, mistakes = np.zeros(objective.size, objective.dtype), 0
    for number, start in enumerate(range(first, last, batch), step):
        stop = min(start + batch, last)
        if wrong := objective.add_mistakes(weights, start, stop, gradient):
            mistakes += wrong
            update.average(weights, totals, gradient, *objective.touched(start, stop), number)
    return mistakes
