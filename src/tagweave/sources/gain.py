"""What deserves a person's attention: how much an answer is expected to tell beyond the record.

Belief p in the true label y, the record q, and answers a with the probabilities theta(a | y) gain

    sum over y, a of p(y) theta(a | y) log (p(y | a) / q(y)) = I(y; a) + KL(p || q)

nats. Where beliefs are recorded, as by an aggregation, q is p, and I is left: of a perfect answer, the entropy of p.
Where labels are, all others have a share epsilon of q; in units of log(1 / epsilon), the gain of any answer becomes
the probability that these labels are wrong, as epsilon approaches 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tagweave.sources.methods import Aggregate
    from tagweave.sources.reliability import Reliability

Floats = NDArray[Any]


def entropy(probabilities: Floats) -> Floats:
    """Return float[...]: the entropy in nats of distributions, float[..., Y]."""
    logarithms = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return np.asarray(np.maximum(-(probabilities * logarithms).sum(axis=-1), 0))


def gain_of_answer(beliefs: Floats, answers: Floats | None = None) -> Floats:
    """Return float[...]: the nats that an answer is expected to tell where beliefs, float[..., Y], are recorded.

    `answers`, float[Y, A], are the probabilities of an answer given the true label; by default it is always right.
    """
    if answers is None:
        return entropy(beliefs)
    return np.asarray(np.maximum(entropy(beliefs @ answers) - beliefs @ entropy(answers), 0))


def gain_over_labels(beliefs: Floats, recorded: Floats) -> Floats:
    """Return float[...]: the probability that recorded labels, bool[..., Y], are wrong, by beliefs, float[..., Y]."""
    return np.asarray(1 - (beliefs * recorded).sum(axis=-1))


def of_sentences(gains: Floats, sentence_ptr: NDArray[np.int64]) -> Floats:
    """Return float64[S]: the mean gain of the tokens of each sentence, as reading a sentence costs its length; else 0.

    Of 47 people who marked names in CoNLL-2003, two per sentence reach an F of 57.6, and with a third one for 5 % of
    the tokens 61.2 in this order, 59.1 in the order of sums, 58.8 at random (`dawid-skene`, mean of three draws).
    """
    sums = np.diff(np.concatenate([[0.0], np.cumsum(gains, dtype=np.float64)])[sentence_ptr])
    return np.asarray(sums / np.maximum(np.diff(sentence_ptr), 1))


class Question(NamedTuple):
    """A sentence that deserves another annotator."""

    sentence: int  # its number, from 0
    gain: float  # how much an answer of an average source would tell of a label, in nats
    position: int  # where it would tell most, from 0


def expected_gains(probabilities: NDArray[np.floating], reliability: Reliability) -> Floats:
    """Return float64[N]: how much an answer of an average source would tell at each position, in nats."""
    answers = reliability.expected[~reliability.is_known].sum(axis=0) + 1 / len(reliability.labels)
    return gain_of_answer(probabilities, answers / answers.sum(axis=1, keepdims=True))


def questions(result: Aggregate, sentence_ptr: NDArray[np.int64], count: int) -> list[Question]:
    """Return the sentences with the largest expected gains, the largest first."""
    gains = expected_gains(result.probabilities.astype(np.float64), result.reliability)
    means = of_sentences(gains, sentence_ptr)
    order = np.argsort(-means, kind="stable")[:count]
    order = order[np.diff(sentence_ptr)[order] > 0]
    return [
        Question(s, float(means[s]), int(gains[sentence_ptr[s] : sentence_ptr[s + 1]].argmax())) for s in order.tolist()
    ]
