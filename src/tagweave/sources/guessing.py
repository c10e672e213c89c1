"""Inference for MACE, and votes of sources on whole spans.

Given the probability gamma of the true label at its position, an answer l of source k was a guess with probability

    gamma[l] theta xi(l) / (1 - theta + theta xi(l)) + 1 - gamma[l]

Variational inference replaces parameters by the exponentials of their expected logarithms (Hovy et al. 2013, 3.3).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.errors import SourceError
from tagweave.kernels.distributions import add_likelihoods, count_answers
from tagweave.labels.transition_scheme import split_label
from tagweave.sources.estimate import Estimate, IndependentLabels
from tagweave.sources.reliability import Floats, Prior, log_probabilities, prior_term, updated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tagweave.sources.answers import Answers
    from tagweave.sources.methods import AggregationRun, MaceOptions

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
    variational, size = not options.point, len(answers.labels)
    estimated = np.array([name not in run.known for name in answers.sources])
    truth = IndependentLabels(np.ones(size), np.ones(size), variational)
    while True:
        knows, guesses = (np.exp(log_probabilities(each, 1, variational)) for each in guessing)
        knowing, guess = knows[:, :1], knows[:, 1:] * guesses  # the potentials of knowing, and of guessing each label
        posterior = truth.posterior(_likelihoods(answers, knowing, guess))
        pseudo = zip(guessing, (options.guessing, options.guesses), strict=True)
        parts = [(each[estimated], count) for each, count in pseudo]
        prior = sum(prior_term(each, np.full_like(each, count), 1, variational) for each, count in parts)
        objectives.append(posterior.log_z + (truth.prior_term() + prior))
        run.tell(f"turn {len(objectives)}: {objectives[-1]:.2f}")
        gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
        if len(objectives) == options.iterations or gain < options.tolerance * len(answers):
            confusion = Prior.even(size, 0.01, run.known)
            return Estimate(posterior.gamma, updated(answers, posterior.gamma, confusion), tuple(objectives))
        truth = truth if options.equal else truth.updated(posterior.counts)
        counts = np.zeros((len(guess), 1, size, size))
        count_answers(*_columns(answers), 0, posterior.gamma, 0, len(answers), counts)
        known = np.diagonal(counts[:, 0], axis1=1, axis2=2) * knowing / (knowing + guess)
        guessed = counts[:, 0].sum(axis=2) - known
        expected = _Guessing(np.stack([known.sum(axis=1), guessed.sum(axis=1)], axis=1), guessed)
        guessing = _fixed(expected, answers, options, run)


def _likelihoods(answers: Answers, knowing: Floats, guess: Floats) -> Floats:
    """Return float64[N, Y]: log P(all answers at a position | true label)."""
    size = guess.shape[1]
    table = np.log(guess[:, None, :, None] + knowing[:, :, None, None] * np.eye(size))
    rows = np.zeros((answers.positions, size))
    add_likelihoods(*_columns(answers), 0, np.ascontiguousarray(table), 0, len(answers), rows)
    return rows


def _columns(answers: Answers) -> tuple[NDArray[Any], ...]:
    """Return the columns that kernels take, without answers before."""
    return answers.position, answers.source, answers.label, answers.share, np.zeros(0, np.int64)


def whole_spans(answers: Answers) -> NDArray[np.int32]:
    """Return int32[N]: labels of the spans that more than half of the sources that answer their start mark; others O.

    Raises:
        SourceError: the labels are not those of spans.
    """
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
    parts = [split_label(label) for label in answers.labels]
    sentence = np.searchsorted(answers.sentence_ptr, answers.position, side="right")
    order = np.lexsort((-answers.shares, answers.position, answers.source))
    start, stop, kind, last = -1, -1, "", (-1, -1, -1)
    for row in order:
        at, source, label = int(answers.position[row]), int(answers.source[row]), int(answers.label[row])
        if (source, at) == last[:2]:
            continue
        letter, own = parts[label]
        goes_on = letter == "I" and own == kind and start >= 0 and (source, at - 1, sentence[row]) == last
        if start >= 0 and not goes_on:
            yield start, stop, kind
            start = -1
        if letter != "O":
            start, stop, kind = start if goes_on else at, at + 1, own
        last = (source, at, int(sentence[row]))
    if start >= 0:
        yield start, stop, kind
