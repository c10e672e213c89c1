"""Estimates true labels and the reliability of sources from each other, in turns, and takes votes on whole spans.

A turn takes the reliability to the probabilities of true labels, and these to a better reliability. The objective, the
log likelihood of all answers with what priors add (or its variational lower bound), never falls.

True labels are assumed to be independent, or each to depend on the one before. Both models take the log likelihood of
the answers, [N, Y], to the probability of each label at each position, and count what they need to be estimated again.

In MACE, given the probability gamma of the true label at its position, an answer l of source k was a guess with
probability

    gamma[l] theta xi(l) / (1 - theta + theta xi(l)) + 1 - gamma[l]

Its parameters are replaced by the exponentials of their expected logarithms, which is variational inference (Hovy et
al. 2013, 3.3).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from tagweave.errors import SourceError
from tagweave.evidence.sequences import Evidence
from tagweave.kernels.distributions import over_answers
from tagweave.labels.spans import UNTYPED, SpanRules
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
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tagweave.labels.transition_scheme import TransitionScheme
    from tagweave.sources.answers import Answers
    from tagweave.sources.options import AggregationRun, MaceOptions, TurnOptions

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
    best: NDArray[np.int32] | None = None  # int32[N], the best labels, if they do not follow from `gamma`


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
    options: TurnOptions,
    run: AggregationRun,
    variational: bool = False,
    speaks: bool | Sequence[int] = False,
    start: Floats | None = None,
) -> Estimate:
    """Estimate labels and sources.

    Args:
        answers: the answers of sources.
        truth: the model of true labels, before any answer.
        prior: of sources.
        options: when to stop.
        run: receives messages; its `known` is part of the prior already.
        variational: whether the parameters of sources have distributions, not values.
        speaks: whether silence is evidence; or the sources, by number, whose silence is.
        start: the probabilities of true labels to start from, float64[N, Y]; by default votes.
    """
    gamma = from_votes(answers, prior.known) if start is None else start
    reliability = updated(answers, gamma, prior)
    silence = SilenceRates.of(answers, gamma, None if speaks is True else speaks) if speaks else None
    objectives: list[float] = []
    while True:
        rows = log_likelihood_rows(answers, reliability, variational)
        if silence is not None:
            silence.add_likelihoods(rows)
        posterior = truth.posterior(rows)
        objectives.append(posterior.log_z + truth.prior_term() + reliability.prior_term(variational))
        objectives[-1] += silence.prior_term() if silence is not None else 0.0
        run.tell(f"turn {len(objectives)}: {objectives[-1]:.2f}")
        gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
        if len(objectives) == options.iterations or gain < options.tolerance * len(answers):
            return Estimate(posterior.gamma, reliability, tuple(objectives))
        truth = truth.updated(posterior.counts)
        reliability = updated(answers, posterior.gamma, prior)
        silence = silence and silence.updated(posterior.gamma)


_CERTAIN = 1e6


class _Guessing(NamedTuple):
    """Counts with pseudo-counts: knows float64[K, 2], of (knowing, guessing); guesses float64[K, Y], of labels."""

    knows: Floats
    guesses: Floats


def best_of_restarts(answers: Answers, options: MaceOptions, run: AggregationRun) -> Estimate:
    """Return the estimate with the best objective of several from random values."""
    random = np.random.default_rng(run.seed)
    size, counts = len(answers.labels), answers.counts()[:, None] + 1

    def estimates() -> Iterator[Estimate]:
        for number in range(options.restarts):
            run.tell(f"start {number + 1} of {options.restarts}")
            # about as many counts as answers: all sources guess alike, whatever their order is
            share, guesses = random.uniform(0.1, 0.6), random.dirichlet(np.full(size, 5.0))
            start = _Guessing(counts * np.array([1 - share, share]), counts * share * guesses)
            yield _from(_fixed(start, answers, options, run), answers, options, run)

    return max(estimates(), key=lambda estimate: estimate.objectives[-1])


def _fixed(guessing: _Guessing, answers: Answers, options: MaceOptions, run: AggregationRun) -> _Guessing:
    """Add pseudo-counts, and set sources of known reliability."""
    knows, guesses = guessing.knows + options.guessing, guessing.guesses + options.guesses
    size = len(answers.labels)
    for name, right in run.known.items():
        k, wrong = answers.sources.index(name), min((1 - right) * size / max(size - 1, 1), 1 - 1e-6)
        knows[k] = _CERTAIN * max(1 - wrong, 1e-6), _CERTAIN * max(wrong, 1e-6)
        guesses[k] = _CERTAIN / size
    return _Guessing(knows, guesses)


def _from(guessing: _Guessing, answers: Answers, options: MaceOptions, run: AggregationRun) -> Estimate:
    objectives: list[float] = []
    size = len(answers.labels)
    estimated = np.array([name not in run.known for name in answers.sources])
    truth = IndependentLabels(np.ones(size), np.ones(size), variational=True)
    while True:
        knows, guesses = (np.exp(log_probabilities(counts, 1, variational=True)) for counts in guessing)
        knowing, guess = knows[:, :1], knows[:, 1:] * guesses  # the potentials of knowing, and of guessing each label
        posterior = truth.posterior(_likelihoods(answers, knowing, guess))
        pseudo = zip(guessing, (options.guessing, options.guesses), strict=True)
        parts = [(counts[estimated], count) for counts, count in pseudo]
        prior = sum(prior_term(counts, np.full_like(counts, count), 1, variational=True) for counts, count in parts)
        objectives.append(posterior.log_z + (truth.prior_term() + prior))
        run.tell(f"turn {len(objectives)}: {objectives[-1]:.2f}")
        gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
        if len(objectives) == options.iterations or gain < options.tolerance * len(answers):
            confusion = Prior.even(size, 0.01, run.known)
            return Estimate(posterior.gamma, updated(answers, posterior.gamma, confusion), tuple(objectives))
        truth = truth.updated(posterior.counts)
        counts = np.zeros((len(guess), 1, size, size))
        over_answers(*_columns(answers), 0, posterior.gamma, 0, len(answers), counts, True)
        known_answers = np.diagonal(counts[:, 0], axis1=1, axis2=2) * knowing / (knowing + guess)
        guessed = counts[:, 0].sum(axis=2) - known_answers
        expected = _Guessing(np.stack([known_answers.sum(axis=1), guessed.sum(axis=1)], axis=1), guessed)
        guessing = _fixed(expected, answers, options, run)


def _likelihoods(answers: Answers, knowing: Floats, guess: Floats) -> Floats:
    """Return float64[N, Y]: log P(all answers at a position | true label)."""
    size = guess.shape[1]
    table = np.log(guess[:, None, :, None] + knowing[:, :, None, None] * np.eye(size))
    rows = np.zeros((answers.positions, size))
    over_answers(*_columns(answers), 0, rows, 0, len(answers), np.ascontiguousarray(table), False)
    return rows


def _columns(answers: Answers) -> tuple[NDArray[Any], ...]:
    """Return the columns that kernels take, without answers before."""
    return answers.position, answers.source, answers.label, answers.share, np.zeros(0, np.int64)


def whole_spans(answers: Answers) -> NDArray[np.int32]:
    """Return int32[N]: labels of spans that more than half of the sources that answer their start mark; others O."""
    if answers.scheme.is_free:
        raise SourceError(f"found the labels {' '.join(answers.labels[:8])}, expected those of spans, as B-X I-X O")
    number = {label: i for i, label in enumerate(answers.labels)}
    votes = Counter(_marked(answers))
    voters = np.bincount(answers.position, answers.shares, answers.positions)
    best = np.full(answers.positions, number["O"], np.int32)
    for (start, stop, kind), count in votes.most_common():
        if 2 * count > voters[start] and (best[start:stop] == number["O"]).all():
            best[start:stop] = number[f"I-{kind}" if kind else "I"]
            best[start] = number[f"B-{kind}" if kind else "B"]
    return best


def _marked(answers: Answers) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of every source; of several labels at a position the first with the largest share counts."""
    order = np.lexsort((-answers.shares, answers.position, answers.source))
    source, position = answers.source[order], answers.position[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (np.diff(source) != 0) | (np.diff(position) != 0)
    source, position, label = source[is_first], position[is_first], answers.label[order][is_first]
    sentence = np.searchsorted(answers.sentence_ptr, position, side="right")
    begins = np.ones(len(position) + 1, bool)
    begins[1:-1] = (np.diff(source) != 0) | (np.diff(position) != 1) | (np.diff(sentence) != 0)
    rules = SpanRules(answers.labels)
    starts, stops, types = rules.spans(label, begins)
    names = ["" if name == UNTYPED else name for name in rules.types]
    for start, stop, kind in zip(position[starts].tolist(), (position[stops - 1] + 1).tolist(), types, strict=True):
        yield start, stop, names[kind]
