"""Terms of the loss: a penalty on the expected share of tokens that have certain labels.

    R  =  weight * N * max(0, |share - target| - margin)      share = E[tokens with such a label] / N

(Effland and Collins 2021, section 3). Annotation of spans alone says nothing of the tokens outside, and is most likely
under a model that finds spans everywhere. The share of tokens inside spans is easily known from a few documents.

With the scores of these labels raised by x at every token, log Z(x) has the derivative E[count] at x = 0, and so

    d E[count] / d scores  =  d / dx  E_x[counts]  =  Cov(count, counts)

The right side is a difference of two sums of the ordinary recurrence, under potentials that are multiplied by exp(x)
and by exp(-x) where a token has such a label: evidence, as any likelihood. (Li and Eisner 2009, section 3, compute the
same covariance by a semiring.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.structures.chain import Chain, ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Sums

WINDOW = 8192
"""Tokens over which the share runs in batches."""


@dataclass(frozen=True)
class LabelShare:
    """The penalty on the share of labels among the tokens of one batch, a term of the loss."""

    labels: NDArray[np.bool_]  # [Y], the labels that count
    target: float  # the share that is expected, 0..1
    margin: float  # how far the share may be from it
    weight: float  # of the penalty, for each token

    def loss(self, share: float) -> float:
        return self.weight * max(0.0, abs(share - self.target) - self.margin)

    def slope(self, share: float) -> float:
        return math.copysign(self.weight, share - self.target) if self.loss(share) else 0.0

    def add(self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient) -> NDArray[np.float64]:
        """Add the gradient of the penalty; return that of the tokens of each sentence."""
        tokens = batch.evidence.weights * batch.evidence.lengths
        share = expected_count(structure, scores, batch, self.labels) / max(1.0, float(tokens.sum()))
        CountAtSlope(self.labels, self.slope(share)).add(structure, scores, batch, gradient)
        return self.loss(share) * tokens


@dataclass
class CountAtSlope:
    """The expected count of labels at a slope that more sentences than those of a batch determine."""

    labels: NDArray[np.bool_]  # [Y]
    slope: float  # the derivative of the penalty with respect to the count
    count: float = 0.0  # the expected count of the last batch

    def add(self, structure: Chain, scores: ChainScores, batch: Batch, gradient: ChainGradient) -> float:
        """Add slope * the gradient of the expected count; whoever knows all sentences adds the penalty."""
        if self.slope:
            self.count = add_count_gradient(structure, scores, batch, self.labels, self.slope, gradient)
        else:
            self.count = expected_count(structure, scores, batch, self.labels)
        return 0.0


@dataclass
class RunningShare:
    """The share of the last tokens of an epoch, about `WINDOW` of them, for learners that take batches.

    That is usual for functions of an expectation (Wang et al. 2017, stochastic compositional gradient descent).
    """

    of: LabelShare  # the penalty
    count: float = 0.0  # expected; tokens long ago count less in both
    tokens: float = 0.0

    @property
    def share(self) -> float:
        return self.count / self.tokens

    def add(self, count: float, tokens: float) -> None:
        """Add the tokens of a batch and how many of them are expected to have the labels."""
        kept = math.exp(-tokens / WINDOW)
        self.count, self.tokens = kept * self.count + count, kept * self.tokens + tokens


def expected_count(structure: Chain, scores: ChainScores, batch: Batch, labels: NDArray[np.bool_]) -> float:
    """Return the expected number of tokens that have one of the labels, bool[Y], by the weights of sentences."""
    return _count(structure.sums(scores, batch), batch, labels)


def _count(sums: Sums, batch: Batch, labels: NDArray[np.bool_]) -> float:
    counts = sums.marginals()[batch.rows][:, labels].sum(axis=1, dtype=np.float64)
    return float(counts @ np.repeat(batch.evidence.weights, batch.evidence.lengths))


def add_count_gradient(
    structure: Chain, scores: ChainScores, batch: Batch, labels: NDArray[Any], factor: float, gradient: ChainGradient
) -> float:
    """Add factor * (the gradient of the expected count) to a gradient; return the expected count.

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
