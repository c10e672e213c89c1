"""Transition scores of a chain and their potentials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


@dataclass(frozen=True)
class TransitionScores:
    """Transition scores of all views together, and their potentials.

    `potential`, `start` and `end` are exp(score - largest score), 0 where the scheme forbids; `step` and `edge` are the
    largest scores that were taken out: add `step` to log Z for every step, and `edge` once per sentence.
    """

    score: Floats
    start_score: Floats
    end_score: Floats
    potential: Floats
    transposed: Floats
    start: Floats
    end: Floats
    step: float
    edge: float

    @classmethod
    def of_scores(cls, score: Floats, start: Floats, end: Floats) -> TransitionScores:
        """From scores [Y, Y] (row: from), of first labels [Y] and of last labels [Y]; -inf is forbidden."""
        step, first, last = _largest(score), _largest(start), _largest(end)
        potential = np.exp(score - step)
        transposed = np.ascontiguousarray(potential.T)
        return cls(
            score, start, end, potential, transposed, np.exp(start - first), np.exp(end - last), step, first + last
        )

    @cached_property
    def transposed_score(self) -> Floats:
        return np.ascontiguousarray(self.score.T)

    @cached_property
    def bounds(self) -> Floats:
        """[2, Y]: the largest and the smallest score from each label (`kernels.decode.row_bounds`)."""
        return np.stack([self.score.max(axis=1), self.score.min(axis=1)])


def _largest(scores: Floats) -> float:
    """The largest score; 0 where all are -inf, so that it can be taken out."""
    largest = float(scores.max())
    return largest if largest > -np.inf else 0.0
