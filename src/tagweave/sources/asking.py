"""Where another annotator would tell most.

An answer l of a source with the confusion matrix theta tells, of a true label with the probabilities p,

    I = H(sum over y of p(y) theta(. | y)) - sum over y of p(y) H(theta(. | y))

nats on average: much where p is undecided between labels that the source tells apart, and nothing where it is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tagweave.sources.dirichlet import Floats
    from tagweave.sources.posterior import Aggregate
    from tagweave.sources.reliability import Reliability


class Question(NamedTuple):
    """A sentence that deserves another annotator.

    Attributes:
        sentence: its number, from 0.
        gain: what an answer of an average source would tell of all its labels, in nats.
        position: where it would tell most, from 0.
    """

    sentence: int
    gain: float
    position: int


def expected_gains(probabilities: NDArray[np.floating], reliability: Reliability) -> Floats:
    """float64[N]: what an answer of an average source would tell at each position, in nats."""
    answers = reliability.expected[~reliability.is_known].sum(axis=0) + 1 / len(reliability.labels)
    theta = answers / answers.sum(axis=1, keepdims=True)
    own = -xlogy(theta, theta).sum(axis=1)
    answer = probabilities @ theta
    gains: Floats = np.maximum(-xlogy(answer, answer).sum(axis=1) - probabilities @ own, 0)
    return gains


def questions(result: Aggregate, sentence_ptr: NDArray[np.int64], count: int) -> list[Question]:
    """The sentences with the largest expected gains, the largest first."""
    gains = expected_gains(result.probabilities.astype(np.float64), result.reliability)
    sums = np.diff(np.concatenate([[0.0], np.cumsum(gains)])[sentence_ptr])
    order = np.argsort(-sums, kind="stable")[:count]
    order = order[np.diff(sentence_ptr)[order] > 0]
    return [
        Question(s, float(sums[s]), int(gains[sentence_ptr[s] : sentence_ptr[s + 1]].argmax())) for s in order.tolist()
    ]
