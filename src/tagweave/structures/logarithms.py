"""Sum-product of one sentence in logarithms: slow, but safe for scores of any size.

Scaled probabilities lose a label whose share at its position is below the smallest number. If the scheme or the
evidence then rules out all labels that remain, the sentence is summed again here, by the recurrence of `kernels.chain`.
One case goes unnoticed: a label that falls out of range at one position and would win over later positions by steps
that are each in range. That takes gaps of 88 in single precision, of 700 in double.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.structures.transitions import Transitions

Floats = NDArray[Any]


@dataclass(frozen=True)
class LogSums:
    """The results of sum-product over a sentence of L tokens; -inf and 0 where no sequence is allowed.

    Attributes:
        log_z: log Z.
        gamma: float64[L, Y], state marginals.
        before, beyond: float64[L, Y]; exp(before[t, i] + transition score + beyond[t, j]) are the pair marginals of
            positions t - 1, t (t > 0).
        score: float[Y, Y], the transition scores.
    """

    log_z: float
    gamma: NDArray[np.float64]
    before: NDArray[np.float64]
    beyond: NDArray[np.float64]
    score: Floats

    def pairs(self) -> Iterator[Floats]:
        """The pair marginals [Y, Y] of positions t - 1, t for t = 1 .. L - 1."""
        for before, beyond in zip(self.before[1:], self.beyond[1:], strict=True):
            yield np.exp(before[:, None] + self.score + beyond)


def sum_in_logarithms(scores: Floats, transitions: Transitions) -> LogSums:
    """Forward and backward over one sentence.

    Args:
        scores: float64[L, Y], L > 0, with -inf for labels that the evidence excludes.
        transitions: the transition scores.
    """
    t, length = transitions, len(scores)
    alpha, beta, before = np.empty_like(scores), np.empty_like(scores), np.full_like(scores, -np.inf)
    alpha[0] = t.start_score + scores[0]
    beta[-1] = t.end_score
    for i in range(1, length):
        before[i] = alpha[i - 1]
        alpha[i] = np.logaddexp.reduce(alpha[i - 1][:, None] + t.score, axis=0) + scores[i]
        beta[-i - 1] = np.logaddexp.reduce(t.score + (scores[-i] + beta[-i]), axis=1)
    log_z = float(np.logaddexp.reduce(alpha[-1] + t.end_score))
    if log_z == -np.inf:
        nothing = np.full_like(scores, -np.inf)
        return LogSums(log_z, np.zeros_like(scores), nothing, nothing, t.score)
    return LogSums(log_z, np.exp(alpha + beta - log_z), before, scores + beta - log_z, t.score)
