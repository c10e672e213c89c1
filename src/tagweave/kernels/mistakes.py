"""Steps along d = c (features(best) - features(best allowed)) of a sentence with weight c and k wrong positions.

The averaged perceptron (Collins 2002), at step n:

    w -= d                      totals -= n d

Passive-Aggressive learning (Crammer et al. 2006, sections 5 and 9), by the least that makes good the mistake:

    cost = w'd / c + sqrt(k)    tau = cost / |d / c|^2                  PA
                                tau = min(C, cost / |d / c|^2)          PA-I
                                tau = cost / (|d / c|^2 + 1 / (2 C))    PA-II
    w -= tau d                  totals -= n tau d

Adaptive regularisation of weights (Crammer, Kulesza and Dredze 2009; Mejer and Crammer 2010) with a variance v of
each weight:

    cost = w'd / c + k          alpha = cost / (gamma + sum_i v_i (d_i / c)^2)
    w_i -= alpha v_i d_i        1 / v_i += (d_i / c)^2 / gamma

The mean of the weights after n steps is w - totals / n (Daumé 2006, figure 2.3), so averaging costs nothing where
nothing moves.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inlined, kernel

_U = np.uintp
_LEAST_VARIANCE = 1e-37
PERCEPTRON, PASSIVE_AGGRESSIVE, AROW = range(3)


class StepRule(NamedTuple):
    """The step of a learner."""

    learner: int = PERCEPTRON
    slack: int = 0  # of passive-aggressive learning: 0 PA, 1 PA-I, 2 PA-II
    bound: float = 1.0  # its C; gamma of AROW
    is_error_sensitive: bool = True  # whether the cost of passive-aggressive learning counts errors; else it adds 1


class Vectors(NamedTuple):
    """What a step changes: weights, and the totals of a mean or the variances; and zeros, in which d is summed."""

    weights: NDArray[Any]
    memory: NDArray[np.float64]
    zeros: NDArray[Any]


class Moves(NamedTuple):
    """Where d is not 0, perhaps in several parts for one weight: the numbers of weights, and the amounts."""

    at: NDArray[np.int64]
    by: NDArray[np.float64]


@kernel
def take(gradient, start, stop, moves):
    """Move numbers that are not 0 out of blocks start[i] .. stop[i] - 1 of a gradient; return their count.

    Blocks may repeat.
    """
    count = 0
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if gradient[q] != 0:
                moves.at[count], moves.by[count] = q, gradient[q]
                gradient[q] = 0
                count += 1
    return count


@inlined
def _summed(zeros, moves, count):
    """Add up what moves have for the same weight. Returns the new count."""
    for i in range(_U(count)):
        zeros[_U(moves.at[i])] += zeros.dtype.type(moves.by[i])
    kept = 0
    for i in range(_U(count)):
        by = zeros[_U(moves.at[i])]
        if by != 0:
            zeros[_U(moves.at[i])] = 0
            moves.at[kept], moves.by[kept] = moves.at[i], by
            kept += 1
    return kept


@kernel
def move(rule, vectors, moves, count, errors, weight, step):
    """Take a step along `count` moves, which it overwrites; return its cost, 1 for the perceptron."""
    weights, memory, at, by = vectors.weights, vectors.memory, moves.at, moves.by
    if rule.learner == PERCEPTRON:
        for i in range(_U(count)):
            weights[_U(at[i])] -= weights.dtype.type(by[i])
            memory[_U(at[i])] -= step * by[i]
        return 1.0
    count = _summed(vectors.zeros, moves, count)
    if count == 0:
        return 0.0
    margin, squares = 0.0, 0.0
    for i in range(_U(count)):
        difference, scale = by[i] / weight, memory[_U(at[i])] if rule.learner == AROW else 1.0
        margin += difference * weights[_U(at[i])]
        squares += difference * difference * scale
    if rule.learner == AROW:
        cost = margin + errors
        alpha = cost / (rule.bound + squares)
        for i in range(_U(count)):
            difference, variance = by[i] / weight, memory[_U(at[i])]
            weights[_U(at[i])] -= weights.dtype.type(alpha * variance * by[i])
            memory[_U(at[i])] = max(variance / (1 + variance * difference * difference / rule.bound), _LEAST_VARIANCE)
        return cost * weight
    cost = margin + (sqrt(errors) if rule.is_error_sensitive else 1.0)
    tau = cost / (squares + (0.5 / rule.bound if rule.slack == 2 else 0.0))
    if rule.slack == 1:
        tau = min(rule.bound, tau)
    for i in range(_U(count)):
        weights[_U(at[i])] -= weights.dtype.type(tau * by[i])
        memory[_U(at[i])] -= step * tau * by[i]
    return cost * weight
