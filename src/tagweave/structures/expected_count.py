"""The expected number of tokens that have some labels, and its gradient.

With the scores of these labels raised by x at every token, log Z(x) has the derivative E[count] at x = 0, and so

    d E[count] / d scores  =  d / dx  E_x[counts]  =  Cov(count, counts)

The right side is a difference of two sums of the ordinary recurrence, under potentials that are multiplied by exp(x)
and by exp(-x) where a token has such a label: evidence, as any likelihood. (Li and Eisner 2009, section 3, compute the
same covariance by a semiring; Effland and Collins 2021 need it for the expected entity ratio.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.structures.chain import Chain, ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Sums

Floats = NDArray[Any]


def expected_count(structure: Chain, scores: ChainScores, batch: Batch, labels: NDArray[np.bool_]) -> float:
    """The expected number of tokens of a batch that have one of the labels, bool[Y], by the weights of sentences."""
    return _count(structure.sums(scores, batch), batch, labels)


def _count(sums: Sums, batch: Batch, labels: NDArray[np.bool_]) -> float:
    counts = sums.marginals()[batch.rows][:, labels].sum(axis=1, dtype=np.float64)
    weights = batch.encoded.weights[batch.first : batch.last]
    return float(counts @ np.repeat(weights, np.diff(batch.ptr)))


def add_count_gradient(
    structure: Chain,
    scores: ChainScores,
    batch: Batch,
    labels: NDArray[np.bool_],
    factor: float,
    gradient: ChainGradient,
) -> float:
    """Add factor * (the gradient of the expected count) to a gradient; returns the expected count.

    The error of the difference is of the second order: about 1e-10 of a count in float64, 1e-5 in float32.
    """
    step = float(np.finfo(scores.emission.dtype).eps) ** (1 / 3)
    count = 0.0
    for sign in (+1, -1):
        likelihood = np.exp(sign * step * labels - max(0, sign * step)).astype(scores.emission.dtype)
        sums = structure.weighted_sums(scores, batch, likelihood)
        count += _count(sums, batch, labels) / 2
        structure.add_expectations(sums, scores, batch, sign * factor / (2 * step), gradient)
    return count
