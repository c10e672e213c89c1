"""Inference for MACE: how often each source guesses, and how, from what it says.

Given the probability gamma of the true label at its position, an answer l of source k was a guess with probability

    gamma[l] theta xi(l) / (1 - theta + theta xi(l)) + 1 - gamma[l]

Variational inference replaces parameters by the exponentials of their expected logarithms (Hovy et al. 2013, 3.3).

Votes of sources on whole spans.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
    from tagweave.sources.methods import MaceOptions, Run

_NONE = np.zeros(0, np.int64)
_CERTAIN = 1e6


@dataclass(frozen=True)
class _Guessing:
    """Counts with pseudo-counts: knows float64[K, 2], of (knowing, guessing); guesses float64[K, Y], of labels."""

    knows: Floats
    guesses: Floats

    def tables(self, variational: bool) -> tuple[Floats, Floats]:
        """The potentials of knowing float64[K, 1], and of guessing each label float64[K, Y]."""
        knows, guesses = (np.exp(log_probabilities(each, 1, variational)) for each in (self.knows, self.guesses))
        return knows[:, :1], knows[:, 1:] * guesses


def best_of_restarts(answers: Answers, options: MaceOptions, run: Run) -> Estimate:
    """The estimate with the best objective of several from random values."""
    random = np.random.default_rng(run.seed)
    found: Estimate | None = None
    for number in range(options.restarts):
        run.tell(f"start {number + 1} of {options.restarts}")
        new = _from(_start(answers, options, run, random), answers, options, run)
        if found is None or new.objectives[-1] > found.objectives[-1]:
            found = new
    assert found is not None  # noqa: S101 - there is at least one start
    return found


def _start(answers: Answers, options: MaceOptions, run: Run, random: np.random.Generator) -> _Guessing:
    """Random counts, about as many as answers: all sources guess alike, whatever their order is."""
    size, counts = len(answers.labels), answers.counts()[:, None] + 1
    share, guesses = random.uniform(0.1, 0.6), random.dirichlet(np.full(size, 5.0))
    return _fixed(_Guessing(counts * np.array([1 - share, share]), counts * share * guesses), answers, options, run)


def _fixed(guessing: _Guessing, answers: Answers, options: MaceOptions, run: Run) -> _Guessing:
    """With pseudo-counts, and sources of known reliability as they are."""
    knows, guesses = guessing.knows + options.guessing, guessing.guesses + options.guesses
    size = len(answers.labels)
    for name, right in run.known.items():
        k, wrong = answers.sources.index(name), min((1 - right) * size / max(size - 1, 1), 1 - 1e-6)
        knows[k] = _CERTAIN * max(1 - wrong, 1e-6), _CERTAIN * max(wrong, 1e-6)
        guesses[k] = _CERTAIN / size
    return _Guessing(knows, guesses)


def _from(guessing: _Guessing, answers: Answers, options: MaceOptions, run: Run) -> Estimate:
    objectives: list[float] = []
    variational = not options.point
    flat = np.ones(len(answers.labels))
    truth = IndependentLabels(flat, flat, variational)
    while True:
        knowing, guess = guessing.tables(variational)
        posterior = truth.posterior(_likelihoods(answers, knowing, guess))
        prior = truth.prior_term() + _prior_term(guessing, answers, options, run)
        objectives.append(posterior.log_z + prior)
        run.tell(f"turn {len(objectives)}: {objectives[-1]:.2f}")
        gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
        if len(objectives) == options.iterations or gain < options.tolerance * len(answers):
            confusion = Prior.plain(len(answers.labels), 0.01, 0.01, run.known)
            return Estimate(posterior.gamma, updated(answers, posterior.gamma, confusion), tuple(objectives))
        truth = truth if options.equal else truth.updated(posterior.counts)
        guessing = _fixed(_expected(answers, posterior.gamma, knowing, guess), answers, options, run)


def _likelihoods(answers: Answers, knowing: Floats, guess: Floats) -> Floats:
    """float64[N, Y]: log P(all answers at a position | true label)."""
    size = guess.shape[1]
    table = np.log(guess[:, None, :, None] + knowing[:, :, None, None] * np.eye(size))
    rows = np.zeros((answers.positions, size))
    columns = answers.position, answers.source, answers.label, answers.share
    add_likelihoods(*columns, _NONE, 0, np.ascontiguousarray(table), 0, len(answers), rows)
    return rows


def _expected(answers: Answers, gamma: Floats, knowing: Floats, guess: Floats) -> _Guessing:
    """Expected counts of answers that were known, and of guesses."""
    size = guess.shape[1]
    counts = np.zeros((len(guess), 1, size, size))
    columns = answers.position, answers.source, answers.label, answers.share
    count_answers(*columns, _NONE, 0, gamma, 0, len(answers), counts)
    right = np.diagonal(counts[:, 0], axis1=1, axis2=2)
    known = right * knowing / (knowing + guess)
    guesses = counts[:, 0].sum(axis=2) - known
    return _Guessing(np.stack([known.sum(axis=1), guesses.sum(axis=1)], axis=1), guesses)


def _prior_term(guessing: _Guessing, answers: Answers, options: MaceOptions, run: Run) -> float:
    own = np.array([name not in run.known for name in answers.sources])
    parts = (guessing.knows[own], options.guessing), (guessing.guesses[own], options.guesses)
    return sum(prior_term(each, np.full_like(each, pseudo), 1, not options.point) for each, pseudo in parts)


class _Marked(NamedTuple):
    """A span of positions, as one source marked it."""

    start: int
    stop: int
    type: str


def whole_spans(answers: Answers) -> NDArray[np.int32]:
    """int32[N]: the labels of the spans that more than half of those who answered at their start mark; others are O.

    Raises:
        SourceError: the labels are not those of spans.
    """
    if answers.scheme.is_free:
        raise SourceError(f"found the labels {' '.join(answers.labels[:8])}, expected those of spans, as B-X I-X O")
    number = {label: i for i, label in enumerate(answers.labels)}
    votes = Counter(_marked(answers))
    voters = np.bincount(answers.position, answers.shares, answers.positions)
    best = np.full(answers.positions, number["O"], np.int32)
    for span, count in votes.most_common():
        if 2 * count > voters[span.start] and (best[span.start : span.stop] == number["O"]).all():
            best[span.start : span.stop] = number[_label("I", span.type)]
            best[span.start] = number[_label("B", span.type)]
    return best


def _label(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind else letter


def _marked(answers: Answers) -> Iterator[_Marked]:
    """The spans of every source; of several labels at a position the first with the largest share counts."""
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
            yield _Marked(start, stop, kind)
            start = -1
        if letter != "O":
            start, stop, kind = start if goes_on else at, at + 1, own
        last = (source, at, int(sentence[row]))
    if start >= 0:
        yield _Marked(start, stop, kind)
