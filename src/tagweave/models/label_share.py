"""A penalty on the expected share of tokens that have certain labels (Effland and Collins 2021, section 3).

    R  =  weight * N * max(0, |share - target| - margin)      share = E[tokens with such a label] / N

Annotation of spans alone says nothing of the tokens outside, and is most likely under a model that finds spans
everywhere. The share of tokens inside spans is easily known from a few documents.

Learners that take batches see a running share, as is usual for functions of an expectation (Wang et al. 2017,
stochastic compositional gradient descent): over the last tokens of an epoch, about `WINDOW` of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW = 8192
"""Tokens over which the share runs in batches."""


@dataclass(frozen=True)
class LabelShare:
    """The penalty.

    Attributes:
        labels: bool[Y], the labels that count.
        target: the share that is expected, 0..1.
        margin: how far the share may be from it.
        weight: of the penalty, for each token.
    """

    labels: NDArray[np.bool_]
    target: float
    margin: float
    weight: float

    def loss(self, share: float) -> float:
        """The penalty for each token."""
        return self.weight * max(0.0, abs(share - self.target) - self.margin)

    def slope(self, share: float) -> float:
        """The derivative of the penalty for each token."""
        return math.copysign(self.weight, share - self.target) if self.loss(share) else 0.0


@dataclass
class RunningShare:
    """The share of the last tokens of an epoch.

    Attributes:
        of: the penalty.
        count, tokens: the expected and all tokens, those long ago counted less.
    """

    of: LabelShare
    count: float = 0.0
    tokens: float = 0.0

    @property
    def share(self) -> float:
        """The running share, of some tokens."""
        return self.count / self.tokens

    def add(self, count: float, tokens: float) -> None:
        """Add the tokens of a batch and how many of them are expected to have the labels."""
        kept = math.exp(-tokens / WINDOW)
        self.count, self.tokens = kept * self.count + count, kept * self.tokens + tokens
