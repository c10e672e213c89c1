"""The aggregation methods. To add one, write its function, and name it in `METHODS` and in `sources.options`.

- majority: every source has one vote.
- Dawid and Skene (1979): a confusion matrix for every source, and independent true labels.
- Bayesian sequence combination (Simpson and Gurevych 2019, BSC-seq), variational: transitions of true labels as in a
  hidden Markov model, and for every source a confusion matrix that depends on its answer before. All rows of
  probabilities have Dirichlet priors. A first answer in a sentence, or after a position without one, is treated as
  after `O`, or, where labels do not code spans, has a matrix of its own.
- A blend of two models. Where few sources label everything, estimates under flat priors drift: what one source marks
  too much becomes the truth that the others miss. So the first model, Dawid and Skene's, begins at votes, and has
  for every source a prior that grows with its answers, under which it knows the label or guesses (Hovy et al. 2013):

      P(. | y, source k) has the prior Dirichlet((10 + 0.03 a_k(y)) ((1 - e) [l = y] + e xi_k(l))),    e = 0.1

  a_k(y) is how often source k says y, xi_k(l) the share of l among its answers. Where labels are of spans, e is 1
  for a y that it never says: a source that marks places alone tells nothing of people. Bayesian sequence combination
  goes on from the labels of this model for a few turns, and the result is the geometric mean of the probabilities of
  both (a logarithmic opinion pool, Genest and Zidek 1986): the one takes every token by itself, the other knows what
  follows what.

  Sources that err together are found first (`sources.dependence`). Copies have one vote. At each position, votes count
  by the probability that answers come from an opinion that sources share; where opinions make a tenth of the answers
  that differ, as those of models trained on the same text, votes count four fifths everywhere.

  A source of spans that never says `O`, while another one does, is a list: that it answers at all is evidence, and so
  it is of a source that says nothing but `O`. With such sources the first model is all, under a flat prior of labels.
  Where sources hardly meet, or only one of them meets one list, which may miss names as well as the other may invent
  them, it takes one turn: votes under the priors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import SourceError
from tagweave.sources.answers import Answers
from tagweave.sources.dependence import merge_copies, shared_opinions
from tagweave.sources.estimate import Estimate, IndependentLabels, LabelChain, from_votes, in_turns
from tagweave.sources.options import AGGREGATIONS, DEFAULT
from tagweave.sources.reliability import Floats, Prior, Reliability, updated
from tagweave.structures.chain import ChainScores, best_labels
from tagweave.structures.lockstep import TransitionScores

Tell = Callable[[str], None]


def _majority(answers: Answers, known: Mapping[str, float], tell: Tell) -> Estimate:
    gamma = from_votes(answers, known)
    return Estimate(gamma, updated(answers, gamma, Prior.even(len(answers.labels), 0.01, known)))


def _dawid_skene(answers: Answers, known: Mapping[str, float], tell: Tell) -> Estimate:
    prior = np.ones(len(answers.labels))
    confusion = Prior.even(len(answers.labels), 1.0, known)
    return in_turns(answers, IndependentLabels(prior, prior), confusion, tell)


_IMPOSSIBLE = 1e-3  # share of the pseudo-answers left to an answer that cannot follow the one before


def sequential_prior(answers: Answers, right: float, wrong: float, known: Mapping[str, float] | None = None) -> Prior:
    """Build a prior with a context for every answer before; labels that cannot follow each other are improbable."""
    size, scheme = len(answers.labels), answers.scheme
    square = wrong + right * np.eye(size)
    if scheme.is_free:
        return Prior(np.repeat(square[None], size + 1, axis=0), size, known or {})
    possible = np.where(scheme.transition, 1.0, _IMPOSSIBLE)
    return Prior(possible[:, :, None] * square, answers.labels.index("O"), known or {})


RIGHT, WRONG = 10.0, 1.0
"""Pseudo-answers with the true label, beside those for every pair of a true label and an answer."""


def _bayesian_sequence(answers: Answers, known: Mapping[str, float], tell: Tell) -> Estimate:
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, 1.0, variational=True)
    return in_turns(answers, chain, sequential_prior(answers, RIGHT, WRONG, known), tell, variational=True)


_DOUBT = 0.1  # how often a source is expected to guess, before any answer
_BELIEF = 10.0  # pseudo-answers for each true label
_SHARE = 0.03  # more of them for each answer with this label
_FIRST_TURNS, _LATER_TURNS = 40, 10  # of the second model, which starts from a good place and drifts
_TOGETHER = 0.1  # mean probability of an opinion where sources differ from which on votes decide; of people up to 0.06
_VOTED = 0.8  # how much votes count then: the models overrule them only where they are close


def guessing_prior(answers: Answers, known: Mapping[str, float] | None = None) -> Prior:
    """Build a prior for each source, which grows with its answers: it knows, or guesses as it answers on the whole."""
    size, label_counts = len(answers.labels), answers.given
    guesses = label_counts + 1e-2  # a source may say what it never did
    guesses /= guesses.sum(axis=1, keepdims=True)
    knows = (1 - _DOUBT) * ((label_counts > 0) | answers.scheme.is_free)
    shares = guesses[:, :, None] * (1 - knows)[:, None, :] + np.eye(size) * knows[:, None, :]
    strength = _BELIEF + _SHARE * label_counts
    return Prior((shares * strength[:, None, :])[:, None], 0, known or {})


def _blend(answers: Answers, known: Mapping[str, float], tell: Tell) -> Estimate:
    flat = np.ones(len(answers.labels))
    speaks = (*answers.lists, *answers.excluders)
    if speaks or answers.hardly_overlap:
        truth = IndependentLabels((answers.given.sum(axis=0) > 0).astype(np.float64), flat)
        votes, believed = from_votes(answers, known, more=1e-9), guessing_prior(answers, known)
        turns = 1 if answers.hardly_overlap else _FIRST_TURNS
        return in_turns(answers, truth, believed, tell, turns, speaks=speaks, start=votes)
    single = merge_copies(answers, known)
    if len(single.sources) < len(answers.sources):
        tell(f"{len(answers.sources)} sources, {len(single.sources)} without copies")
    votes, believed = from_votes(single, known, more=1e-9), guessing_prior(single, known)
    truth = IndependentLabels(flat + votes.sum(axis=0), flat)
    first = in_turns(single, truth, believed, tell, _FIRST_TURNS, start=votes)
    chain = LabelChain.of(single.sentence_ptr, single.scheme, 1.0, variational=True)
    prior = sequential_prior(single, RIGHT, WRONG, known)
    second = in_turns(single, chain, prior, tell, _LATER_TURNS, variational=True, start=first.gamma)
    gamma = np.sqrt(np.maximum(first.gamma * second.gamma, np.finfo(np.float64).tiny))
    gamma /= gamma.sum(axis=1, keepdims=True)
    opinions = shared_opinions(single, believed, first.gamma)
    voted = opinions.probability
    if opinions.share > _TOGETHER:
        voted = np.where(single.answered > 0, _VOTED, 0.0)
        tell(f"sources share an opinion where they differ ({100 * opinions.share:.0f} %): votes decide")
    gamma += voted[:, None] * (votes - gamma)
    return Estimate(gamma, updated(answers, gamma, prior))


METHODS: dict[str, Callable[[Answers, Mapping[str, float], Tell], Estimate]] = {
    "majority": _majority,
    "dawid-skene": _dawid_skene,
    "bsc": _bayesian_sequence,
    "blend": _blend,
}


@dataclass(frozen=True)
class Aggregate:
    """The true labels as answers give them, and the reliability of sources."""

    labels: tuple[str, ...]  # the Y labels
    probabilities: NDArray[np.float32]  # float32[N, Y], of the true label at every position
    best: NDArray[np.int32]  # int32[N], the best label; of spans, the best sequence that their coding allows
    reliability: Reliability


def aggregate(
    answers: Answers,
    method: str = DEFAULT,
    known: Mapping[str, float] | None = None,
    tell: Tell = lambda _: None,
) -> Aggregate:
    """Combine the answers of many sources.

    Args:
        answers: the answers.
        method: one of `AGGREGATIONS`.
        known: by name, the probability that an answer of a source is right, where it is known (gold: 1).
        tell: receives a line of text after every iteration.
    """
    if method not in AGGREGATIONS:
        raise SourceError(f"found the method {method!r}, expected one of {', '.join(AGGREGATIONS)}")
    for name, right in (known or {}).items():
        if name not in answers.sources:
            raise SourceError(f"found a known reliability of {name!r}, expected one of {', '.join(answers.sources)}")
        if not 0 < right <= 1:
            raise SourceError(f"found the reliability {right:g} of {name!r}, expected more than 0, up to 1")
    estimate = METHODS[method](answers, known or {}, tell)
    best = best_sequences(answers, estimate.gamma)
    return Aggregate(answers.labels, estimate.gamma.astype(np.float32), best, estimate.reliability)


def best_sequences(answers: Answers, gamma: Floats) -> NDArray[np.int32]:
    """Return int32[N]: the allowed sequences with the largest sums of probabilities: most labels are expected right."""
    scheme = answers.scheme
    if scheme.is_free:
        best: NDArray[np.int32] = gamma.argmax(axis=1).astype(np.int32)
        return best
    scores = (np.where(mask, 0.0, -np.inf) for mask in (scheme.transition, scheme.start, scheme.end))
    return best_labels(ChainScores(gamma.astype(np.float64), TransitionScores.of_scores(*scores)), answers.sentence_ptr)
