"""Functions of the Beta and Dirichlet distributions over arrays: without SciPy, which is larger than all else together.

Shifted by recurrence to where Stirling's series has full precision (Abramowitz and Stegun 1964, 6.1.15, 6.1.40, 6.3.5,
6.3.18); the distribution function by its continued fraction (26.5.8).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SHIFT = 10
_TINY = 1e-300
_DIGITS = 1e-14
_ROUNDS = 10_000  # enough for counts of ten million
_CLOSE = 1e-11  # relative, of a quantile
_HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


def digamma(x: Floats) -> Floats:
    """Return the derivative of `log_gamma` at x > 0."""
    x = np.asarray(x, np.float64)
    s = x + _SHIFT
    q = 1 / s**2
    series = q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q * (1 / 132 - q * 691 / 32760)))))
    total: Floats = np.log(s) - 0.5 / s - series
    total -= sum(1 / (x + k) for k in range(_SHIFT))
    return total


def log_gamma(x: Floats) -> Floats:
    """Return the logarithm of the gamma function of x > 0."""
    x = np.asarray(x, np.float64)
    s = x + _SHIFT
    q = 1 / s**2
    series = (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - q * 691 / 360360))))) / s
    total: Floats = (s - 0.5) * np.log(s) - s + _HALF_LOG_TAU + series
    total -= sum(np.log(x + k) for k in range(_SHIFT))
    return total


def beta_distribution(x: Any, a: Any, b: Any) -> Floats:
    """Return P(X <= x) of X ~ Beta(a, b), 0 <= x <= 1, of arrays that broadcast."""
    x, a, b = np.broadcast_arrays(*(np.asarray(array, np.float64) for array in (x, a, b)))
    turned = x > (a + 1) / (a + b + 2)  # there the fraction of the other tail converges faster
    x, a, b = np.where(turned, 1 - x, x), np.where(turned, b, a), np.where(turned, a, b)
    with np.errstate(divide="ignore"):
        front = a * np.log(x) + b * np.log1p(-x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b) - np.log(a)
    tail = np.exp(front) / _fraction(x, a, b)
    probability: Floats = np.where(turned, 1 - tail, tail)
    return probability


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return 1 + d1 / (1 + d2 / (1 + ...)), by Lentz's method (Press et al. 2007, section 5.2)."""
    value, above, below, n, change = np.ones_like(x), np.ones_like(x), np.zeros_like(x), 0, np.zeros_like(x)
    while n < _ROUNDS and (abs(change - 1) > _DIGITS).any():
        n += 1
        k = n // 2
        if n % 2:
            term = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            term = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        above, below = 1 + term / above, 1 + term * below
        above, below = np.where(above == 0, _TINY, above), 1 / np.where(below == 0, _TINY, below)
        change = above * below
        value = value * change
    return value


def beta_quantile(a: Any, b: Any, share: Any) -> Floats:
    """Return the x with P(X <= x) = share, of X ~ Beta(a, b)."""
    a, b, share = np.broadcast_arrays(*(np.asarray(array, np.float64) for array in (a, b, share)))
    low, high = np.zeros(a.shape), np.ones(a.shape)
    x: Floats = a / (a + b)
    constant = log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    for _ in range(100):
        beyond = beta_distribution(x, a, b) - share
        low, high = np.where(beyond < 0, x, low), np.where(beyond < 0, high, x)
        with np.errstate(all="ignore"):
            density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) + constant)
            guess = x - beyond / density  # Newton's; outside of the bracket, its middle
        new = np.where((guess > low) & (guess < high), guess, (low + high) / 2)
        if (abs(new - x) <= _CLOSE * x).all():
            break
        x = new
    return x
