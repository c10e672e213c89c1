"""How far each source is to be believed: the probability of its answers, given the true label and its answer before.

    P(answer l | true label y, answer before c) = theta[k, c, l, y]

A plain confusion matrix (Dawid and Skene 1979) has one context, and ignores the answer before. The matrices of Simpson
and Gurevych (2019) have a context for every label: a source that has begun a span goes on with it. Rows of theta have
Dirichlet priors; c are expected counts plus pseudo-counts, and an entry whose pseudo-count is 0 is impossible.

    point estimate   theta = c / sum c,               which maximises log likelihood + sum of prior log theta
    variational      E[log theta] = psi(c) - psi(sum c),  with the bound log likelihood - KL(Dirichlet(c) || prior)

Silence can be evidence, too. A labelling function that gives a single label, or an annotator who marks only names,
tells the true label by answering at all: whatever the truth, its answers are the same. So there is, for every source
and true label y,

    P(source k answers | true label y) = rate[k, y],     with a Beta prior of one answer and one silence,

beside the confusion matrix of the answers that it gives. A source that never saw a text is silent for other reasons;
the silence of annotators tells nothing, nor does the silence of a source that gives no label but `O`: it is not sure
there.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.spans import OUTSIDE
from tagweave.kernels import distributions as kernels
from tagweave.sources.answers import Answers
from tagweave.sources.beta import beta_quantile, digamma, log_gamma

Floats = NDArray[np.float64]


def log_probabilities(counts: Floats, axis: int, variational: bool) -> Floats:
    """Return the logarithms of the estimated probabilities along an axis, or their expectations; no counts: uniform."""
    total = counts.sum(axis, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        if variational:
            logarithms: Floats = digamma(counts) - digamma(total)
        else:
            logarithms = np.log(counts) - np.log(total)
    return np.where(total > 0, np.where(counts > 0, logarithms, -np.inf), -np.log(counts.shape[axis]))


def prior_term(counts: Floats, prior: Floats, axis: int, variational: bool) -> float:
    """Compute what the prior adds to the objective, which then never falls: sum of prior log theta, or -KL."""
    logarithms = log_probabilities(counts, axis, variational)
    if not variational:
        return float((prior * np.where(prior > 0, logarithms, 0)).sum())
    has_mass = (prior > 0) & (counts > 0)
    safe, safe_prior = np.where(has_mass, counts, 1), np.where(has_mass, prior, 1)
    expected = np.where(has_mass, logarithms, 0)
    entries = log_gamma(safe_prior) - log_gamma(safe) + (safe - safe_prior) * expected
    totals = [np.where(has_mass, array, 0).sum(axis) for array in (counts, prior)]
    posterior_total, other = (log_gamma(np.where(total > 0, total, 1)) for total in totals)
    return -float(np.where(has_mass, entries, 0).sum() + (posterior_total - other).sum())


_CERTAIN = 1e6  # answers that a known reliability counts for
_LEAST_ERROR = 1e-6  # a source that never errs would leave no label possible where two of them differ


@dataclass(frozen=True)
class Prior:
    """The belief in sources before any answer."""

    # float64[C, Y, Y], pseudo-counts of (answer before, answer, true label); C is 1, Y or Y + 1. Or [K, C, Y, Y],
    # for each source its own
    counts: Floats
    initial: int = 0  # the context of an answer with none before it
    # by name, the probability of a right answer of sources that are not estimated
    known: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def even(cls, size: int, count: float, known: Mapping[str, float]) -> Prior:
        """Return one context, with `count` pseudo-answers for every pair of labels."""
        return cls(np.full((1, size, size), count), 0, known)

    def fixed(self, sources: tuple[str, ...]) -> dict[int, Floats]:
        """Return the counts [C, Y, Y] of the sources of known reliability, by number."""
        shape = self.counts.shape[-3:]
        size = shape[-1]
        fixed = {}
        for name, right in self.known.items():
            share = min(right, 1 - _LEAST_ERROR)
            wrong = (1 - share) / max(size - 1, 1)
            matrix = np.full((size, size), wrong) + (share - wrong) * np.eye(size)
            fixed[sources.index(name)] = np.broadcast_to(_CERTAIN * matrix, shape)
        return fixed


@dataclass(frozen=True)
class Reliability:
    """Expected counts of answers plus pseudo-counts of the prior: a Dirichlet for every source, context and label."""

    labels: tuple[str, ...]  # the Y labels
    sources: tuple[str, ...]  # the K names
    counts: Floats  # float64[K, C, Y, Y], of (source, answer before, answer, true label)
    prior: Prior

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """bool[K]: whether the reliability of a source was given, not estimated."""
        return np.array([name in self.prior.known for name in self.sources], bool)

    @cached_property
    def expected(self) -> Floats:
        """float64[K, Y, Y]: expected answers (true label, answer) without the prior, whatever was said before."""
        counts = np.where(self.is_known[:, None, None, None], self.counts, self.counts - self.prior.counts)
        return np.ascontiguousarray(counts.sum(axis=1).transpose(0, 2, 1))

    @cached_property
    def confusion(self) -> Floats:
        """float64[K, Y, Y]: P(answer | true label), rows by true label, each with one answer more, evenly spread."""
        counts = self.expected + 1 / len(self.labels)
        shares: Floats = counts / counts.sum(axis=2, keepdims=True)
        return shares

    def recall(self, level: float = 0.95) -> Floats:
        """Return float64[K, Y, 3]: the probability of a right answer given the true label, and its interval."""
        right = np.diagonal(self.expected, axis1=1, axis2=2)
        return _interval(right + 1, self.expected.sum(axis=2) - right + 1, level)

    def accuracy(self, level: float = 0.95, labels: Sequence[int] | None = None) -> Floats:
        """Return float64[K, 3]: the probability that an answer is right, and its interval, under a uniform prior.

        With `labels`, only positions count where one of these is the true label.
        """
        kept = slice(None) if labels is None else list(labels)
        right = np.diagonal(self.expected, axis1=1, axis2=2)[:, kept].sum(axis=1)
        return _interval(right + 1, self.expected[:, kept].sum(axis=(1, 2)) - right + 1, level)

    def prior_term(self, variational: bool) -> float:
        prior = np.broadcast_to(self.prior.counts, self.counts.shape)
        return prior_term(self.counts[~self.is_known], prior[~self.is_known], 2, variational)


def _interval(right: Floats, wrong: Floats, level: float) -> Floats:
    """Return [..., 3]: the mean of Beta(right, wrong) and its central interval."""
    tail = (1 - level) / 2
    right, wrong = np.maximum(right, 1e-9), np.maximum(wrong, 1e-9)
    ends = [beta_quantile(right, wrong, share) for share in (tail, 1 - tail)]
    return np.stack([right / (right + wrong), *ends], axis=-1)


def log_likelihood_rows(answers: Answers, reliability: Reliability, variational: bool = False) -> Floats:
    """Return float64[N, Y]: log P(all answers at a position | true label); 0 where nobody answered.

    If `variational`, it is the expectation of the logarithm under the Dirichlets, not the logarithm of their means.
    """
    rows = np.zeros((answers.positions, len(answers.labels)))
    table = log_probabilities(reliability.counts, 2, variational)
    kernels.over_answers(*_columns(answers, table), reliability.prior.initial, rows, 0, len(answers), table, False)
    return rows


def updated(answers: Answers, gamma: Floats, prior: Prior) -> Reliability:
    """Estimate the reliability of every source, given the probabilities of the true labels, float64[N, Y].

    The number of contexts of the prior decides whether an answer depends on the one before.
    """
    counts = np.zeros((len(answers.sources), *prior.counts.shape[-3:]))
    columns = _columns(answers, counts)
    rows = np.ascontiguousarray(gamma, np.float64)
    kernels.over_answers(*columns, prior.initial, rows, 0, len(answers), counts, True)
    counts += prior.counts
    for source, fixed_counts in prior.fixed(answers.sources).items():
        counts[source] = fixed_counts
    return Reliability(answers.labels, answers.sources, counts, prior)


def _columns(answers: Answers, table: Floats) -> tuple[NDArray[np.generic], ...]:
    previous = answers.previous if table.shape[1] > 1 else np.zeros(0, np.int64)
    return answers.position, answers.source, answers.label, answers.share, previous


_PSEUDO = 1.0  # answers, and silences


@dataclass(frozen=True)
class SilenceRates:
    """How often sources answer."""

    # of each source whose silence is evidence, int64[.]: the positions that it answers
    answered: tuple[NDArray[np.int64], ...]
    rates: Floats  # float64[sources, Y], the probability of an answer given the true label

    @classmethod
    def of(cls, answers: Answers, gamma: Floats, sources: Sequence[int] | None = None) -> SilenceRates:
        """Estimate the rates under probabilities of true labels, float64[N, Y].

        The silence of some sources is evidence, by number; by default of all that give other labels than `O`.
        """
        named = np.unique(answers.source[np.array(answers.labels)[answers.label] != OUTSIDE])
        chosen = named.tolist() if sources is None else sources
        answered = tuple(np.unique(answers.position[answers.source == k]).astype(np.int64) for k in chosen)
        return cls(answered, np.zeros((len(answered), gamma.shape[1]))).updated(gamma)

    def updated(self, gamma: Floats) -> SilenceRates:
        counts = np.array([gamma[positions].sum(axis=0) for positions in self.answered]).reshape(self.rates.shape)
        return replace(self, rates=(counts + _PSEUDO) / (gamma.sum(axis=0) + 2 * _PSEUDO))

    def add_likelihoods(self, rows: Floats) -> None:
        """Add log P(which sources answer | true label) to float64[N, Y]."""
        silent = np.log1p(-self.rates)
        rows += silent.sum(axis=0)
        for positions, gain in zip(self.answered, np.log(self.rates) - silent, strict=True):
            rows[positions] += gain

    def prior_term(self) -> float:
        return _PSEUDO * float((np.log(self.rates) + np.log1p(-self.rates)).sum())


_FIELDS = ("source", "label", "answers", "right", "low", "high")


def source_rows(reliability: Reliability) -> list[dict[str, Any]]:
    """Return for every source a row over all labels, and one for each true label.

    A row has the number of answers where that is the true label (expected), the probability that such an answer is
    right, and the ends of its interval.
    """
    overall, by_label = reliability.accuracy(), reliability.recall()
    answers = reliability.expected.sum(axis=2)
    rows = []
    for k, source in enumerate(reliability.sources):
        of_labels = zip(reliability.labels, answers[k], by_label[k], strict=True)
        for label, count, numbers in (("", answers[k].sum(), overall[k]), *of_labels):
            figures = (round(float(count), 1), *(round(float(number), 4) for number in numbers))
            rows.append(dict(zip(_FIELDS, (source, label, *figures), strict=True)))
    return rows


def inside_labels(reliability: Reliability) -> list[int] | None:
    """Return the numbers of all labels but `O`; `None` if there is no other, or no `O`."""
    if OUTSIDE not in reliability.labels or len(reliability.labels) == 1:
        return None
    return [y for y, label in enumerate(reliability.labels) if label != OUTSIDE]


def write_csv(reliability: Reliability, stream: IO[str]) -> None:
    """Write the rows as a table."""
    writer = csv.DictWriter(stream, _FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(source_rows(reliability))


def write_json(reliability: Reliability, stream: IO[str]) -> None:
    """Write the rows, and P(answer | true label) of every source, a row for each true label."""
    report = {
        "labels": reliability.labels,
        "known": dict(reliability.prior.known),
        "rows": source_rows(reliability),
        "confusion": {
            source: matrix.round(5).tolist()
            for source, matrix in zip(reliability.sources, reliability.confusion, strict=True)
        },
    }
    stream.write(json.dumps(report, ensure_ascii=False, indent=1) + "\n")
