"""Sparse weight updates: only the weights that a batch touched, given as blocks start[i] .. stop[i] - 1 of one vector.

Blocks may repeat: the first visit takes the gradient and leaves 0, so later ones change nothing.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel
from tagweave.kernels.instructions import prefetch

_U = np.uintp
_AHEAD = np.uintp(6)


@kernel
def adagrad(weights, squares, gradient, start, stop, rate):
    """squares += g^2; weights -= rate * g / sqrt(squares); g = 0 (Duchi et al. 2011, the diagonal form).

    squares must be positive: then g = 0 changes nothing, and the loop needs no branch.
    """
    for i in range(_U(start.shape[0])):
        if i + _AHEAD < _U(start.shape[0]):
            soon = _U(start[i + _AHEAD])
            prefetch(weights, soon)
            prefetch(squares, soon)
            prefetch(gradient, soon)
        for q in range(_U(start[i]), _U(stop[i])):
            g = gradient[q]
            square = squares[q] + g * g
            squares[q] = square
            weights[q] -= rate * g / np.sqrt(square)
            gradient[q] = 0


@kernel
def move(source, start, stop, target):
    """target += source; source = 0."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            target[q] += source[q]
            source[q] = 0


@kernel
def descend(weights, gradient, start, stop, rate):
    """weights -= rate * g; g = 0."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if gradient[q] != 0:
                weights[q] -= weights.dtype.type(rate) * gradient[q]
                gradient[q] = 0


@kernel
def decay(weights, seen, log_decay, now, start, stop):
    """Multiply each weight by the decay of all steps since it was last seen: exp(log_decay[now] - log_decay[seen])."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if seen[q] != now:
                weights[q] *= weights.dtype.type(np.exp(log_decay[now] - log_decay[seen[q]]))
                seen[q] = now


@kernel
def average(weights, totals, gradient, start, stop, step):
    """weights -= g; totals -= step * g; g = 0. The average of the weights after n steps is weights - totals / n."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if gradient[q] != 0:
                weights[q] -= gradient[q]
                totals[q] -= totals.dtype.type(step) * gradient[q]
                gradient[q] = 0


@kernel
def rprop(weights, gradient, previous, rates, low, high, growth, shrink, most, least):
    """Rprop- (Riedmiller 1994) on weights[low:high]: the sign of the gradient moves a weight by its own rate, which
    grows while the sign stays and shrinks when it turns. previous is set to the gradient."""
    for q in range(_U(low), _U(high)):
        g = gradient[q]
        turn = g * previous[q]
        if turn > 0:
            rates[q] = min(rates[q] * growth, most)
        elif turn < 0:
            rates[q] = max(rates[q] * shrink, least)
        previous[q] = g
        if g > 0:
            weights[q] -= rates[q]
        elif g < 0:
            weights[q] += rates[q]
