"""Stochastic gradient descent over small batches of sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import NotNegative, Whole
from tagweave.kernels import weight_vectors
from tagweave.learning.trainer import UNWATCHED, Learner, Objective, StateRules, TrainerState, Watch, state_weights

Floats = NDArray[Any]


@dataclass(frozen=True)
class SGD(Learner):
    """Stochastic gradient descent with a calibrated rate and L2 regularisation, like CRFsuite's `l2sgd`.

    The rate falls as rate / (1 + rate * lambda * step), lambda = 2 c2 / sentences. Decay is lazy: a weight is brought
    up to date when a batch touches it.

    Args:
        c2: the regulariser is c2 |w|^2.
        rate: the first step; `None` tries several on a sample and takes the best (Bottou's calibration).
        batch: sentences per update (li-2015 takes 30).
        seed: seed of the order of sentences.
        trial: the rate in the middle of those tried.
        growth: the factor between one rate tried and the next.
        sample: how many sentences rates are tried on.
    """

    epochs: ClassVar[int] = 30
    vectors: ClassVar[int] = 6
    ranges: ClassVar[Mapping[str, str]] = {"c2": "log:0.01:10", "batch": "int-log:1:32"}
    c2: float = 1.0
    rate: float | None = None
    batch: int = 8
    seed: int = 0
    trial: float = 0.1
    growth: float = 2.0
    sample: int = 1000

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        weights = weights.astype(objective.dtype)
        rate = self.rate if self.rate is not None else self._calibrated(objective, weights)
        return TrainerState({"weights": weights}, {"rate": rate, "step": 0})

    def rules(self, objective: Objective) -> StateRules:
        return StateRules({"weights": state_weights(objective)}, {"rate": NotNegative, "step": Whole})

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        shuffled = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        state.loss = self._epoch(shuffled, state.weights, state.numbers["rate"], int(state.numbers["step"]), watch)
        state.numbers["step"] += -(-len(objective) // self.batch)
        state.iteration += 1

    def _epoch(
        self, objective: Objective, weights: Floats, rate: float, steps_before: int = 0, watch: Watch = UNWATCHED
    ) -> float:
        decay = 2 * self.c2 / max(1, len(objective)) * self.batch
        steps = np.arange(steps_before, steps_before + -(-len(objective) // self.batch))
        rates = rate / (1 + rate * decay * steps)
        log_decay = np.concatenate([[0.0], np.cumsum(np.log1p(-np.minimum(rates * decay, 0.5)))])
        seen, gradient = np.zeros(objective.size, np.int32), np.zeros(objective.size, objective.dtype)
        loss = 0.0
        for now, (first, last) in enumerate(watch.batches(len(objective), self.batch)):
            blocks = objective.touched(first, last)
            weight_vectors.decay(weights, seen, log_decay, now, *blocks)
            loss += objective.add_batch(weights, first, last, gradient)
            weight_vectors.descend(weights, gradient, *blocks, rates[now])
        everything = np.zeros(1, np.int64), np.full(1, objective.size, np.int64)
        weight_vectors.decay(weights, seen, log_decay, len(rates), *everything)
        return loss + self.c2 * float(weight_vectors.dot(weights, weights))

    def _calibrated(self, objective: Objective, weights: Floats) -> float:
        """Return the rate with the smallest loss after one epoch over a sample."""
        sample = objective.shuffled(objective.order(self.seed, 0, self.batch)[: self.sample])
        best, best_loss = self.trial, np.inf
        for rate in self.trial * self.growth ** np.arange(-6, 6):
            trial = weights.copy()
            self._epoch(sample, trial, rate)
            loss, _ = sample.loss_and_gradient(trial)
            if not np.isfinite(loss) or loss > best_loss:
                if np.isfinite(best_loss):
                    break
                continue
            best, best_loss = float(rate), loss
        return best


LEARNER = SGD
