"""The difference between what a model predicts and what the evidence allows, as a sparse vector of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.trainer import Objective

Floats = NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """features(best) - features(best that the evidence allows) of a sentence that a model gets wrong.

    Attributes:
        at: int64[n], the weights whose feature differs.
        by: float64[n], by how much, never 0.
        errors: at how many positions the evidence contradicts the best labels.
        weight: how often the sentence counts.
    """

    at: NDArray[np.int64]
    by: NDArray[np.float64]
    errors: int
    weight: float

    @property
    def squared(self) -> float:
        """|by|^2."""
        return float(self.by @ self.by)

    def margin(self, weights: Floats) -> float:
        """By how much the score of the best labels exceeds that of the best allowed ones."""
        return float(weights[self.at] @ self.by)


def difference_of(objective: Objective, weights: Floats, sentence: int, gradient: Floats) -> Difference | None:
    """The difference of a sentence; `None` if the model makes no mistake, or none that any feature tells.

    Args:
        objective: the sentences.
        weights: the model.
        sentence: which one.
        gradient: zeros, and zeros again afterwards.
    """
    errors, weight = objective.mistake(weights, sentence, gradient)
    if not errors:
        return None
    at = _entries(*objective.touched(sentence, sentence + 1))
    at = np.unique(at[gradient[at] != 0])  # blocks may repeat
    by = gradient[at].astype(np.float64)
    gradient[at] = 0
    return Difference(at, by, errors, weight) if len(at) else None


def _entries(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers in blocks start[i] .. stop[i] - 1, one block after the other."""
    sizes = stop - start
    before = np.cumsum(sizes) - sizes
    return np.repeat(start - before, sizes) + np.arange(int(sizes.sum()))
