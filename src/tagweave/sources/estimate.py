"""Estimates true labels and the reliability of sources from each other, in turns.

A turn takes the reliability to the probabilities of true labels, and these to a better reliability. The objective, the
log likelihood of all answers with what priors add (or its variational lower bound), never falls.

True labels are assumed to be independent, or each to depend on the one before. Both models take the log likelihood of
the answers, [N, Y], to the probability of each label at each position, and count what they need to be estimated again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from tagweave.evidence.sequences import Evidence
from tagweave.sources.reliability import (
    Floats,
    Prior,
    Reliability,
    SilenceRates,
    log_likelihood_rows,
    log_probabilities,
    prior_term,
    updated,
)
from tagweave.structures.chain import Chain, ChainScores
from tagweave.structures.lockstep import TransitionScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from tagweave.labels.transition_scheme import TransitionScheme
    from tagweave.sources.answers import Answers

_BLOCK = 8192  # positions whose sums are in memory at a time


class _Posterior(NamedTuple):
    """The probabilities of true labels."""

    gamma: Floats  # float64[N, Y]
    log_z: float  # the log likelihood of all answers (in variational inference, the part of the bound without priors)
    counts: Floats  # expected counts of what the model of true labels estimates


class Truth(Protocol):
    """A model of true labels."""

    def posterior(self, rows: Floats) -> _Posterior:
        """Compute the probabilities of labels under likelihoods, float64[N, Y] in logarithms, which may change."""
        ...

    def updated(self, counts: Floats) -> Self: ...

    def prior_term(self) -> float: ...


@dataclass(frozen=True)
class IndependentLabels:
    """Every position has its label with the same probabilities; counts float64[Y] include pseudo-counts `prior`."""

    counts: Floats
    prior: Floats
    variational: bool = False

    def posterior(self, rows: Floats) -> _Posterior:
        rows += log_probabilities(self.counts, 0, self.variational)
        top = rows.max(axis=1, keepdims=True)
        rows -= top
        np.exp(rows, out=rows)
        total = rows.sum(axis=1, keepdims=True)
        rows /= total
        return _Posterior(rows, float(top.sum() + np.log(total).sum()), rows.sum(axis=0))

    def updated(self, counts: Floats) -> IndependentLabels:
        return replace(self, counts=counts + self.prior)

    def prior_term(self) -> float:
        return prior_term(self.counts, self.prior, 0, self.variational)


@dataclass(frozen=True)
class LabelChain:
    """Every label depends on the one before."""

    sentence_ptr: NDArray[np.int64]  # int64[S + 1], the first position of every sentence
    scheme: TransitionScheme  # which label may follow which
    counts: Floats  # float64[Y + 1, Y], transitions with pseudo-counts; the last row is the start of a sentence
    prior: Floats  # float64[Y + 1, Y], pseudo-counts, 0 where the scheme forbids a transition
    variational: bool = False

    @classmethod
    def of(
        cls, sentence_ptr: NDArray[np.int64], scheme: TransitionScheme, pseudo: float, variational: bool
    ) -> LabelChain:
        """Build a chain with `pseudo` pseudo-counts of every transition that the scheme allows."""
        prior = pseudo * np.concatenate([scheme.transition, scheme.start[None]]).astype(np.float64)
        return cls(sentence_ptr, scheme, prior, prior, variational)

    @property
    def transitions(self) -> TransitionScores:
        """The scores of transitions: their logarithms, or the expectations of these."""
        scores = log_probabilities(self.counts, 1, self.variational)
        scores = np.where(np.concatenate([self.scheme.transition, self.scheme.start[None]]), scores, -np.inf)
        return TransitionScores.of_scores(scores[:-1], scores[-1], np.where(self.scheme.end, 0.0, -np.inf))

    def posterior(self, rows: Floats) -> _Posterior:
        transitions, chain, gradient = self.transitions, Chain(), None
        gamma, log_z = np.zeros_like(rows), 0.0
        sentences = Evidence.unknown(self.sentence_ptr)
        for first, last in self._blocks():
            tokens = slice(self.sentence_ptr[first], self.sentence_ptr[last])
            batch, scores = chain.batch(sentences.part(first, last)), ChainScores(rows[tokens], transitions)
            gradient = chain.gradient(scores, batch, gradient)
            log_z += float(chain.add_expectations(chain.sums(scores, batch), scores, batch, 1, gradient).sum())
            gamma[tokens] = gradient.emission
        lengths = np.diff(self.sentence_ptr)
        log_z += float(((lengths - 1) * transitions.step + transitions.edge)[lengths > 0].sum())
        starts = gamma[self.sentence_ptr[:-1][lengths > 0]].sum(axis=0)
        pairs = np.zeros_like(transitions.score) if gradient is None else gradient.transition
        return _Posterior(gamma, log_z, np.concatenate([pairs, starts[None]]))

    def updated(self, counts: Floats) -> LabelChain:
        return replace(self, counts=counts + self.prior)

    def prior_term(self) -> float:
        return prior_term(self.counts, self.prior, 1, self.variational)

    def _blocks(self) -> list[tuple[int, int]]:
        """Return runs of sentences with about `_BLOCK` positions each."""
        ptr = self.sentence_ptr
        cuts = np.searchsorted(ptr, np.arange(0, int(ptr[-1]) + _BLOCK, _BLOCK))
        cuts = np.unique(np.minimum(cuts, len(ptr) - 1))
        return [(int(a), int(b)) for a, b in pairwise(cuts) if ptr[b] > ptr[a]]


_LEAST_DOUBT = 1e-3  # so that one source of known reliability has at most a thousand votes


class Estimate(NamedTuple):
    """The result of a method."""

    gamma: Floats  # float64[N, Y], the probabilities of true labels
    reliability: Reliability
    objectives: tuple[float, ...] = ()  # after each turn; empty for methods without one


def from_votes(answers: Answers, known: Mapping[str, float] | None = None, more: float = 1.0) -> Floats:
    """Return float64[N, Y]: the shares of votes, with one vote (`more`) for the labels as they are distributed overall.

    A source of known reliability has as many votes as one of its answers is more likely right than wrong.
    """
    weights = np.ones(len(answers.sources))
    for name, right in (known or {}).items():
        weights[answers.sources.index(name)] = right / max(1 - right, _LEAST_DOUBT)
    votes = answers.votes(weights)
    votes += more * votes.sum(axis=0) / max(votes.sum(), 1)
    gamma: Floats = votes / votes.sum(axis=1, keepdims=True)
    return gamma


def in_turns(
    answers: Answers,
    truth: Truth,
    prior: Prior,
    tell: Callable[[str], None] = lambda _: None,
    turns: int = 100,
    tolerance: float = 1e-5,
    variational: bool = False,
    speaks: Sequence[int] = (),
    start: Floats | None = None,
) -> Estimate:
    """Estimate labels and sources.

    Args:
        answers: the answers of sources.
        truth: the model of true labels, before any answer.
        prior: of sources.
        tell: receives a line after every turn.
        turns: how many at most.
        tolerance: stop once a turn gains less than this for each answer, in nats.
        variational: whether the parameters of sources have distributions, not values.
        speaks: the sources, by number, whose silence is evidence.
        start: the probabilities of true labels to start from, float64[N, Y]; by default votes.
    """
    gamma = from_votes(answers, prior.known) if start is None else start
    reliability = updated(answers, gamma, prior)
    silence = SilenceRates.of(answers, gamma, speaks) if speaks else None
    objectives: list[float] = []
    while True:
        rows = log_likelihood_rows(answers, reliability, variational)
        if silence is not None:
            silence.add_likelihoods(rows)
        posterior = truth.posterior(rows)
        objectives.append(posterior.log_z + truth.prior_term() + reliability.prior_term(variational))
        objectives[-1] += silence.prior_term() if silence is not None else 0.0
        tell(f"turn {len(objectives)}: {objectives[-1]:.2f}")
        gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
        if len(objectives) == turns or gain < tolerance * len(answers):
            return Estimate(posterior.gamma, reliability, tuple(objectives))
        truth = truth.updated(posterior.counts)
        reliability = updated(answers, posterior.gamma, prior)
        silence = silence and silence.updated(posterior.gamma)
