"""True labels and the reliability of sources from each other, in turns: expectation maximisation, or variational.

A turn takes the reliability to the probabilities of true labels, and these to a better reliability. The objective, the
log likelihood of all answers with what priors add (or its variational lower bound), never falls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.sources.reliability import Reliability, log_likelihood_rows, updated
from tagweave.sources.silence import Silence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tagweave.sources.answers import Answers
    from tagweave.sources.dirichlet import Floats
    from tagweave.sources.method import Run
    from tagweave.sources.options import TurnOptions
    from tagweave.sources.reliability import Prior
    from tagweave.sources.truth import Truth


_LEAST_DOUBT = 1e-3  # so that one source of known reliability has at most a thousand votes


class Estimate(NamedTuple):
    """What a method found.

    Attributes:
        gamma: float64[N, Y], the probabilities of true labels.
        reliability: of every source.
        objectives: after each turn; empty for methods without one.
        best: int32[N], the best labels, if they do not follow from `gamma`.
    """

    gamma: Floats
    reliability: Reliability
    objectives: tuple[float, ...] = ()
    best: NDArray[np.int32] | None = None


def from_votes(answers: Answers, known: Mapping[str, float] | None = None) -> Floats:
    """float64[N, Y]: the shares of votes, with one vote more for the labels as they are distributed overall.

    A source of known reliability has as many votes as one of its answers is more likely right than wrong.
    """
    weights = np.ones(len(answers.sources))
    for name, right in (known or {}).items():
        weights[answers.sources.index(name)] = right / max(1 - right, _LEAST_DOUBT)
    votes = answers.votes(weights)
    votes += votes.sum(axis=0) / max(votes.sum(), 1)
    gamma: Floats = votes / votes.sum(axis=1, keepdims=True)
    return gamma


def in_turns(
    answers: Answers,
    truth: Truth,
    prior: Prior,
    options: TurnOptions,
    run: Run,
    variational: bool = False,
    speaks: bool = False,
) -> Estimate:
    """Estimate labels and sources, starting from votes.

    Args:
        answers: what sources said.
        truth: the model of true labels, before any answer.
        prior: of sources.
        options: when to stop.
        run: `known` is part of the prior already.
        variational: whether the parameters of sources have distributions, not values.
        speaks: whether silence is evidence (`Silence`).
    """
    gamma = from_votes(answers, prior.known)
    reliability = updated(answers, gamma, prior)
    silence = Silence.of(answers, gamma) if speaks else None
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
