"""What it says of the true label that a source is silent: for sources that could label every position, and choose some.

A labelling function that gives a single label, or an annotator who marks only names, tells the true label by answering
at all: whatever the truth, its answers are the same. So there is, for every source and true label y,

    P(source k answers | true label y) = rate[k, y],     with a Beta prior of one answer and one silence,

beside the confusion matrix of the answers that it gives. A source that never saw a text is silent for other reasons;
of annotators, silence says nothing. Nor does it of a source that gives no label but `O`: it is not sure there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.spans import OUTSIDE

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.dirichlet import Floats

_PSEUDO = 1.0  # answers, and silences


@dataclass(frozen=True)
class Silence:
    """How often sources answer.

    Attributes:
        answered: of each source that gives other labels than `O`, int64[.]: the positions that it answers.
        rates: float64[sources, Y], the probability of an answer given the true label.
    """

    answered: tuple[NDArray[np.int64], ...]
    rates: Floats

    @classmethod
    def of(cls, answers: Answers, gamma: Floats) -> Silence:
        """The rates under probabilities of true labels, float64[N, Y]."""
        named = np.unique(answers.source[np.array(answers.labels)[answers.label] != OUTSIDE])
        answered = tuple(np.unique(answers.position[answers.source == k]).astype(np.int64) for k in named)
        return cls(answered, np.zeros((len(answered), gamma.shape[1]))).updated(gamma)

    def updated(self, gamma: Floats) -> Silence:
        """The rates estimated again."""
        counts = np.array([gamma[own].sum(axis=0) for own in self.answered]).reshape(self.rates.shape)
        return replace(self, rates=(counts + _PSEUDO) / (gamma.sum(axis=0) + 2 * _PSEUDO))

    def add_likelihoods(self, rows: Floats) -> None:
        """Add log P(which sources answer | true label) to float64[N, Y]."""
        silent = np.log1p(-self.rates)
        rows += silent.sum(axis=0)
        for own, gain in zip(self.answered, np.log(self.rates) - silent, strict=True):
            rows[own] += gain

    def prior_term(self) -> float:
        """What the prior adds to the objective."""
        return _PSEUDO * float((np.log(self.rates) + np.log1p(-self.rates)).sum())
