"""The difference between what a model predicts and what the evidence allows, as a sparse vector of features.

The averaged perceptron (Collins 2002; jiang-2015, Algorithm 1), and its latent form for evidence sets.

If the best sequence of a sentence contradicts its evidence, the weights move towards the best sequence that the
evidence allows (Sun et al. 2009; Fernandes and Brefeld 2011). With one label per position this is the ordinary
perceptron; without evidence nothing moves.

Passive-Aggressive learning of structures (Crammer et al. 2006, sections 5 and 9), as CRFsuite's `pa` does it.

A sentence whose best labels contradict its evidence moves the weights by the least that makes good the mistake: with
d = features(best) - features(best allowed), and k wrong positions,

    cost = w'd + sqrt(k)      tau = cost / |d|^2                  PA, no slack
                              tau = min(c, cost / |d|^2)          PA-I
                              tau = cost / (|d|^2 + 1 / (2 c))    PA-II
    w -= tau d

All other sentences leave the weights alone.

Adaptive regularisation of weights (Crammer, Kulesza and Dredze 2009) for structures (Mejer and Crammer 2010).

Every weight has a variance, which falls with each step of its own: weights of frequent features move little. A sentence
whose best labels contradict its evidence, with d = features(best) - features(best allowed) and k wrong positions, makes

    alpha = (w'd + k) / (gamma + sum_i d_i^2 variance_i)
    w_i -= alpha variance_i d_i           1 / variance_i += d_i^2 / gamma

as CRFsuite's `arow` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, whole
from tagweave.learning.trainer import (
    UNWATCHED,
    DecodingObjective,
    Learner,
    StateRules,
    TrainerState,
    Watch,
    state_weights,
)

Floats = NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """features(best) - features(best that the evidence allows) of a sentence that a model gets wrong."""

    at: NDArray[np.int64]  # int64[n], the weights whose feature differs
    by: NDArray[np.float64]  # float64[n], by how much, never 0
    errors: int  # at how many positions the evidence contradicts the best labels
    weight: float  # how often the sentence counts

    def margin(self, weights: Floats) -> float:
        """Return by how much the best labels score above the best allowed ones."""
        return float(weights[self.at] @ self.by)


def difference_of(objective: DecodingObjective, weights: Floats, sentence: int, gradient: Floats) -> Difference | None:
    """Return the difference of a sentence; `None` if the model makes no mistake, or none that any feature tells.

    Args:
        objective: the sentences.
        weights: the model.
        sentence: which one.
        gradient: zeros, and zeros again afterwards.
    """
    errors, weight = objective.mistake(weights, sentence, gradient)
    if not errors:
        return None
    start, stop = objective.touched(sentence, sentence + 1)
    sizes = stop - start
    at = np.repeat(start - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    at = np.unique(at[gradient[at] != 0])  # blocks may repeat
    by = gradient[at].astype(np.float64)
    gradient[at] = 0
    return Difference(at, by, errors, weight) if len(at) else None


_RUN = 500  # steps between points where training can be interrupted


class MistakeDriven(Learner):
    """A learner that moves the weights where the best labels of a sentence contradict its evidence."""

    mistake_driven: ClassVar[bool] = True


class LazilyAveraged(MistakeDriven):
    """The state of a trainer whose result is a mean of weights that few steps move, computed at the end."""

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        """Weights, and the sum of updates times their steps, from which the average is computed."""
        totals = np.zeros(objective.size, np.float64)
        return TrainerState({"weights": weights.astype(objective.dtype), "totals": totals}, {"step": 0})

    def rules(self, objective: DecodingObjective) -> StateRules:
        totals = ArrayRule(("float64",), (objective.size,), -LARGEST, LARGEST)
        return StateRules({"weights": state_weights(objective), "totals": totals}, {"step": whole()})


@dataclass(frozen=True)
class AveragedPerceptron(LazilyAveraged):
    """The perceptron with lazily averaged weights.

    Args:
        batch: sentences per update; 1 in textbooks.
        seed: seed of the order of sentences.
        epsilon: converged when a smaller share of the sentences than this has a mistake; 0: when none has.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 7
    ranges: ClassVar[Mapping[str, str]] = {"batch": "int-log:1:32"}
    batch: int = 1
    seed: int = 0
    epsilon: float = 0.0

    def step(self, objective: DecodingObjective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One epoch; `loss` is the number of sentences with a mistake."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, totals = state.weights, state.arrays["totals"]
        mistakes, step = 0, int(state.numbers["step"])
        for first, last in watch.batches(len(objective), _RUN * self.batch):
            mistakes += objective.correct(weights, totals, first, last, self.batch, step)
            step += -(-(last - first) // self.batch)
            state.numbers["step"] = step  # kept current, so that an interrupted epoch has an average too
        state.loss = float(mistakes)
        state.iteration += 1
        state.converged = mistakes == 0 or mistakes < self.epsilon * len(objective)

    def result(self, state: TrainerState) -> Floats:
        """Return the mean of the weights over all steps."""
        steps = max(1, state.numbers["step"])
        return (state.weights - state.arrays["totals"] / steps).astype(state.weights.dtype)


@dataclass(frozen=True)
class PassiveAggressive(LazilyAveraged):
    """Passive-Aggressive learning, with lazily averaged weights.

    Args:
        slack: 0 for PA, which separates each sentence at once, 1 for PA-I, 2 for PA-II.
        c: the aggressiveness of PA-I and PA-II: no step is longer than c, or c bounds it softly.
        error_sensitive: whether the cost counts the wrong positions, as above; else it is w'd + 1.
        averaging: whether the result is the mean of the weights over all steps, or the last ones.
        epsilon: converged when the mean cost of a sentence is below this. Without averaging, training also ends when no
            mistake is left; the average still moves towards weights that make none.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    may_be_zero: ClassVar[Sequence[str]] = ("slack",)
    ranges: ClassVar[Mapping[str, str]] = {"c": "log:0.001:1"}
    batch: ClassVar[int] = 1
    slack: int = 1
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.slack not in (0, 1, 2):
            raise ValueError(f"found slack={self.slack!r}, expected 0 (PA), 1 (PA-I) or 2 (PA-II)")
        if not self.c > 0:
            raise ValueError(f"found c={self.c!r}, expected a number above 0")

    def step(self, objective: DecodingObjective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One epoch; `loss` is the sum of costs."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, totals, loss = state.weights, state.arrays["totals"], 0.0
        gradient = np.zeros(objective.size, objective.dtype)
        for sentence, _ in watch.batches(len(objective)):
            state.numbers["step"] += 1
            if (mistake := difference_of(objective, weights, sentence, gradient)) is None:
                continue
            squared = float(mistake.by @ mistake.by)
            cost = mistake.margin(weights) + (sqrt(mistake.errors) if self.error_sensitive else 1.0)
            if self.slack == 1:
                tau = min(self.c, cost / squared)
            else:
                tau = cost / (squared + (0.5 / self.c if self.slack else 0.0))
            move = -tau * mistake.weight * mistake.by
            weights[mistake.at] += move.astype(weights.dtype)
            totals[mistake.at] += state.numbers["step"] * move
            loss += cost * mistake.weight
        state.loss = loss
        state.iteration += 1
        state.converged = (loss == 0 and not self.averaging) or loss < self.epsilon * len(objective)

    def result(self, state: TrainerState) -> Floats:
        """Return the mean of the weights before the first step and after each, or the last weights."""
        if not self.averaging:
            return state.weights
        steps = state.numbers["step"] + 1
        mean: Floats = (state.weights - state.arrays["totals"] / steps).astype(state.weights.dtype)
        return mean


@dataclass(frozen=True)
class AROW(MistakeDriven):
    """Adaptive regularisation of weights, the diagonal form.

    Args:
        variance: the variance of every weight at first.
        gamma: what a mistake costs less than a move: the larger, the shorter the steps.
        epsilon: converged when the mean cost of a sentence is below this; 0: when no mistake is left.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 6
    ranges: ClassVar[Mapping[str, str]] = {"variance": "log:0.01:10", "gamma": "log:0.1:100"}
    batch: ClassVar[int] = 1
    variance: float = 1.0
    gamma: float = 1.0
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("variance", self.variance), ("gamma", self.gamma)):
            if not value > 0:
                raise ValueError(f"found {name}={value!r}, expected a number above 0")

    def fine_tuning(self) -> AROW:
        """With a tenth of the variance: the given weights are as certain as after many steps."""
        return replace(self, variance=0.1 * self.variance)

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        variances = np.full(objective.size, self.variance, objective.dtype)
        return TrainerState({"weights": weights.astype(objective.dtype), "variances": variances})

    def rules(self, objective: DecodingObjective) -> StateRules:
        """As `start` makes them; variances are positive, since steps divide by them."""
        weights = state_weights(objective)
        return StateRules({"weights": weights, "variances": replace(weights, least=1e-38)})

    def step(self, objective: DecodingObjective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One epoch; `loss` is the sum of costs."""
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        weights, variances, loss = state.weights, state.arrays["variances"], 0.0
        gradient = np.zeros(objective.size, objective.dtype)
        for sentence, _ in watch.batches(len(objective)):
            if (mistake := difference_of(objective, weights, sentence, gradient)) is None:
                continue
            own, squares = variances[mistake.at].astype(np.float64), mistake.by**2
            cost = mistake.margin(weights) + mistake.errors
            alpha = cost / (self.gamma + float(squares @ own))
            weights[mistake.at] -= (alpha * mistake.weight * own * mistake.by).astype(weights.dtype)
            least = np.finfo(variances.dtype).tiny
            variances[mistake.at] = np.maximum(own / (1 + own * squares / self.gamma), least)
            loss += cost * mistake.weight
        state.loss = loss
        state.iteration += 1
        state.converged = loss == 0 or loss < self.epsilon * len(objective)
