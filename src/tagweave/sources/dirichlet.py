"""Rows of probabilities with Dirichlet priors: what counts say of their logarithms, and what the prior says of them.

    point estimate   theta = c / sum c,               which maximises log likelihood + sum of prior log theta
    variational      E[log theta] = psi(c) - psi(sum c),  with the bound log likelihood - KL(Dirichlet(c) || prior)

c are expected counts plus pseudo-counts. An entry whose pseudo-count is 0 is impossible.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

Floats = NDArray[np.float64]


def log_probabilities(counts: Floats, axis: int, variational: bool) -> Floats:
    """The logarithms of the probabilities along an axis: of their estimate, or their expectations.

    A row without any count is uniform.
    """
    total = counts.sum(axis, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        if variational:
            logarithms: Floats = digamma(counts) - digamma(total)
        else:
            logarithms = np.log(counts) - np.log(total)
    return np.where(total > 0, np.where(counts > 0, logarithms, -np.inf), -np.log(counts.shape[axis]))


def prior_term(counts: Floats, prior: Floats, axis: int, variational: bool) -> float:
    """What the prior adds to the objective, which then never falls: sum of prior log theta, or -KL."""
    if not variational:
        logarithms = log_probabilities(counts, axis, variational)
        return float((prior * np.where(prior > 0, logarithms, 0)).sum())
    has_mass = (prior > 0) & (counts > 0)
    safe, safe_prior = np.where(has_mass, counts, 1), np.where(has_mass, prior, 1)
    expected = np.where(has_mass, log_probabilities(counts, axis, variational), 0)
    entries = gammaln(safe_prior) - gammaln(safe) + (safe - safe_prior) * expected
    totals = [np.where(has_mass, each, 0).sum(axis) for each in (counts, prior)]
    own, other = (gammaln(np.where(total > 0, total, 1)) for total in totals)
    return -float(np.where(has_mass, entries, 0).sum() + (own - other).sum())
