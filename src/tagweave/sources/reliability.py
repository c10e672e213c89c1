"""How far each source is to be believed: what it answers, given the true label and its answer before.

    P(answer l | true label y, answer before c) = theta[k, c, l, y]

A plain confusion matrix (Dawid and Skene 1979) has one context, and ignores what the source said before. That of
Simpson and Gurevych (2019) has a context for every label: who has begun a span goes on with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from tagweave.kernels import answers as kernels
from tagweave.sources.answers import Answers
from tagweave.sources.dirichlet import Floats, log_probabilities, prior_term

_CERTAIN = 1e6  # answers that a known reliability counts for
_LEAST_ERROR = 1e-6  # a source that never errs would leave no label possible where two of them differ


@dataclass(frozen=True)
class Prior:
    """What is believed of sources before any answer.

    Attributes:
        counts: float64[C, Y, Y], pseudo-counts of (answer before, answer, true label); C is 1, Y or Y + 1.
        initial: the context of an answer with none before it.
        known: by name, sources of known reliability: the probability that an answer is right. They are not estimated.
    """

    counts: Floats
    initial: int = 0
    known: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def plain(cls, size: int, right: float, wrong: float, known: Mapping[str, float] | None = None) -> Prior:
        """One context: `right` pseudo-answers with the true label, `wrong` with each other one."""
        return cls(_square(size, right, wrong)[None], 0, known or {})

    def fixed(self, sources: tuple[str, ...]) -> dict[int, Floats]:
        """The counts [C, Y, Y] of the sources of known reliability, by number."""
        return {sources.index(name): self._certain(right) for name, right in self.known.items()}

    def _certain(self, right: float) -> Floats:
        size = self.counts.shape[-1]
        share = min(right, 1 - _LEAST_ERROR)
        matrix = _square(size, share, (1 - share) / max(size - 1, 1))
        return np.broadcast_to(_CERTAIN * matrix, self.counts.shape)


def _square(size: int, diagonal: float, elsewhere: float) -> Floats:
    return np.full((size, size), elsewhere) + (diagonal - elsewhere) * np.eye(size)


@dataclass(frozen=True)
class Reliability:
    """Expected counts of answers, with the pseudo-counts of the prior: a Dirichlet for every source, context and label.

    Attributes:
        labels: the Y labels.
        sources: the K names.
        counts: float64[K, C, Y, Y], of (source, answer before, answer, true label).
        prior: what was believed before.
    """

    labels: tuple[str, ...]
    sources: tuple[str, ...]
    counts: Floats
    prior: Prior

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """bool[K]: whether the reliability of a source was given, not estimated."""
        return np.array([name in self.prior.known for name in self.sources], bool)

    @cached_property
    def expected(self) -> Floats:
        """float64[K, Y, Y]: expected answers (true label, answer) without the prior, whatever was said before."""
        own = np.where(self.is_known[:, None, None, None], self.counts, self.counts - self.prior.counts)
        return np.ascontiguousarray(own.sum(axis=1).transpose(0, 2, 1))

    @cached_property
    def confusion(self) -> Floats:
        """float64[K, Y, Y]: P(answer | true label), rows by true label, each with one answer more, evenly spread."""
        counts = self.expected + 1 / len(self.labels)
        shares: Floats = counts / counts.sum(axis=2, keepdims=True)
        return shares

    def recall(self, level: float = 0.95) -> Floats:
        """float64[K, Y, 3]: the probability of a right answer given the true label, and its interval."""
        right = np.diagonal(self.expected, axis1=1, axis2=2)
        return _interval(right + 1, self.expected.sum(axis=2) - right + 1, level)

    def accuracy(self, level: float = 0.95, labels: Sequence[int] | None = None) -> Floats:
        """float64[K, 3]: the probability that an answer is right, and its interval, under a uniform prior.

        Args:
            level: of the interval.
            labels: only where one of these is the true label; by default everywhere.
        """
        kept = slice(None) if labels is None else list(labels)
        right = np.diagonal(self.expected, axis1=1, axis2=2)[:, kept].sum(axis=1)
        return _interval(right + 1, self.expected[:, kept].sum(axis=(1, 2)) - right + 1, level)

    def prior_term(self, variational: bool) -> float:
        """What the prior adds to the objective of all sources that are estimated."""
        own = self.counts[~self.is_known]
        return prior_term(own, np.broadcast_to(self.prior.counts, own.shape), 2, variational)


def _interval(right: Floats, wrong: Floats, level: float) -> Floats:
    """[..., 3]: the mean of Beta(right, wrong) and its central interval."""
    tail = (1 - level) / 2
    right, wrong = np.maximum(right, 1e-9), np.maximum(wrong, 1e-9)
    ends = [betaincinv(right, wrong, share) for share in (tail, 1 - tail)]
    return np.stack([right / (right + wrong), *ends], axis=-1)


def log_likelihood_rows(answers: Answers, reliability: Reliability, variational: bool = False) -> Floats:
    """float64[N, Y]: log P(all answers at a position | true label); 0 where nobody answered.

    Args:
        answers: N positions.
        reliability: of their sources.
        variational: the expectation of the logarithm under the Dirichlets instead of the logarithm of their means.
    """
    rows = np.zeros((answers.positions, len(answers.labels)))
    table = log_probabilities(reliability.counts, 2, variational)
    kernels.add_likelihoods(*_columns(answers, table), reliability.prior.initial, table, 0, len(answers), rows)
    return rows


def updated(answers: Answers, gamma: Floats, prior: Prior) -> Reliability:
    """The reliability of every source, given the probabilities of the true labels.

    Args:
        answers: N positions.
        gamma: float64[N, Y], P(true label) at every position.
        prior: its number of contexts decides whether an answer depends on the one before.
    """
    fixed = prior.fixed(answers.sources)
    counts = np.zeros((len(answers.sources), *prior.counts.shape))
    columns = _columns(answers, counts)
    kernels.count_answers(*columns, prior.initial, np.ascontiguousarray(gamma, np.float64), 0, len(answers), counts)
    counts += prior.counts
    for source, own in fixed.items():
        counts[source] = own
    return Reliability(answers.labels, answers.sources, counts, prior)


def _columns(answers: Answers, table: Floats) -> tuple[NDArray[np.generic], ...]:
    previous = answers.previous if table.shape[1] > 1 else np.zeros(0, np.int64)
    return answers.position, answers.source, answers.label, answers.share, previous
