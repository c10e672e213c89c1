"""AdamW for the weights of a network, and AdaGrad for features beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import weight_vectors
from tagweave.learning.trainer import UNWATCHED, Learner, Objective, StateRules, TrainerState, Watch, state_weights

Floats = NDArray[Any]


@dataclass(frozen=True)
class AdamW(Learner):
    """AdamW (Loshchilov and Hutter 2019), with a rate for each layer (Howard and Ruder 2018), and a warm-up.

    The rate of the topmost layer rises from 0 to `rate` over the first part `warm_up` of an epoch, and then falls as
    1 / sqrt(epochs). Each layer has `layers` times the rate of the one above it. Gradients longer than `longest` are
    made as long. Features beside the network, and transitions, have the steps of AdaGrad.

    Args:
        rate: the rate of the topmost layer.
        labels: how many times this rate the weights of labels on top of the network have.
        layers: the rate of a layer as a share of the layer's above.
        features: the rate of AdaGrad for features and transitions.
        batch: sentences per update.
        parts: in how many parts a batch is computed, one after the other, so that less memory is needed.
        decay: how much smaller weights of the network become in an update, in its rate.
        warm_up: the share of the first epoch over which rates rise.
        longest: the longest gradient of the network.
        seed: seed of the order of sentences, and of what the network leaves out in training.
    """

    epochs: ClassVar[int] = 8
    vectors: ClassVar[int] = 7
    ranges: ClassVar[Mapping[str, str]] = {"rate": "log:1e-05:0.001", "layers": "float:0.7:1", "batch": "int-log:4:64"}
    rate: float = 5e-5
    labels: float = 20.0
    layers: float = 0.9
    features: float = 0.1
    batch: int = 16
    parts: int = 1
    decay: float = 0.01
    warm_up: float = 0.5
    longest: float = 1.0
    seed: int = 0

    def fine_tuning(self) -> AdamW:
        return replace(self, rate=0.3 * self.rate, features=0.3 * self.features)

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        """Weights, and the averages of gradients and of their squares; of features, the sum of squares."""
        square = np.zeros(objective.size, objective.dtype)
        square[: _features(objective)] = 0.1
        mean = np.zeros(objective.size, objective.dtype)
        return TrainerState({"weights": weights.astype(objective.dtype), "mean": mean, "square": square})

    def rules(self, objective: Objective) -> StateRules:
        weights = state_weights(objective)
        return StateRules({"weights": weights, "mean": weights, "square": replace(weights, least=0.0)})

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        if _network(objective):
            import torch

            torch.set_num_threads(objective.threads)
            torch.manual_seed(self.seed * 1_000_003 + state.iteration)
        objective = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        gradient, updates = np.zeros(objective.size, objective.dtype), -(-len(objective) // self.batch)
        state.loss = 0.0
        for number, (first, last) in enumerate(watch.batches(len(objective), self.batch), 1):
            for low, high in _parts(first, last, self.parts):
                state.loss += objective.add_batch(state.weights, low, high, gradient)
            self._update(objective, state, gradient, (first, last), state.iteration * updates + number, updates)
        state.iteration += 1

    def _update(
        self,
        objective: Objective,
        state: TrainerState,
        gradient: Floats,
        sentences: tuple[int, int],
        number: int,
        updates: int,
    ) -> None:
        """Make an update, the `number`-th, of `updates` in an epoch."""
        weights, begin, (first, last) = state.weights, _features(objective), sentences
        mean, square = state.arrays["mean"], state.arrays["square"]
        starts, stops = objective.touched(first, last)
        of_features = starts < begin
        blocks = starts[of_features], np.minimum(stops[of_features], begin)
        weight_vectors.adagrad(weights, square, gradient, *blocks, weights.dtype.type(self.features))
        gradient[begin:] /= max(1, last - first)
        length = sqrt(weight_vectors.dot(gradient[begin:], gradient[begin:]))
        if length > self.longest:
            gradient[begin:] *= self.longest / length
        rises = min(1.0, number / max(1.0, self.warm_up * updates))
        rate = self.rate * rises / max(1.0, number / updates) ** 0.5
        size = (1 - 0.999**number) ** 0.5 / (1 - 0.9**number)
        for start, stop, above in _network(objective):
            own = rate * (self.labels if above < 0 else self.layers**above)
            part = (each[start:stop] for each in (weights, mean, square, gradient))
            numbers = (own, self.decay, 0.9, 0.999, size, 1e-8)
            weight_vectors.adamw(*part, *(weights.dtype.type(each) for each in numbers))


def _network(objective: Any) -> Sequence[tuple[int, int, float]]:
    network: Sequence[tuple[int, int, float]] = getattr(objective, "network", ())
    return network


def _features(objective: Any) -> int:
    """Return how many weights are not of a network."""
    network = _network(objective)
    return network[0][0] if network else int(objective.size)


def _parts(first: int, last: int, parts: int) -> list[tuple[int, int]]:
    """Cut first .. last - 1 into parts of like size."""
    bounds = np.linspace(first, last, min(parts, last - first) + 1).astype(int).tolist()
    return list(pairwise(bounds))


LEARNER = AdamW
