"""AdamW of PyTorch for the weights of a network, and AdaGrad for features beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import weight_vectors
from tagweave.learning.trainer import UNWATCHED, Learner, Objective, StateRules, TrainerState, Watch, state_weights

if TYPE_CHECKING:
    import torch

Floats = NDArray[Any]
_UPDATES = 1000  # that a training has at least, unless there are too few sentences
_FEWEST, _MOST = 3, 16  # epochs


class NetworkObjective(Objective, Protocol):
    """An objective whose last weights are those of a module of PyTorch."""

    def network(self, weights: Floats) -> Any:
        """Return the module under these weights (`models.token_scorer`); `add_batch` adds to its gradients."""
        ...


@dataclass(frozen=True)
class AdamW(Learner):
    """AdamW (Loshchilov and Hutter 2019), with a rate for each layer (Howard and Ruder 2018), and a warm-up.

    The rate of the topmost layer rises from 0 to `rate` over the first part `warm_up` of an epoch, and falls to 0 over
    all iterations, by default so many that there are a thousand updates, 3 to 16. Each layer has `layers` times the
    rate of the one above it. Gradients longer than `longest` are made as long. Features beside the network, and
    transitions, have the steps of AdaGrad.

    Args:
        rate: the rate of the topmost layer. A recipe fits its default to the network: 2e-4 for states of 384 numbers, a
            fourth of it for those of 768.
        labels: how many times this rate the weights of labels on top of the network have.
        layers: the rate of a layer as a share of the layer's above.
        features: the rate of AdaGrad for features and transitions.
        batch: sentences per update.
        parts: in how many parts a batch is computed, one after the other, so that less memory is needed.
        decay: how much smaller weights of the network become in an update, in its rate.
        warm_up: the share of the first epoch over which rates rise.
        longest: the longest gradient of the network.
        freeze: how many of the lowest layers stay as they are, with what lies below them, the table of pieces; `None`:
            not even that.
        seed: seed of the order of sentences, and of what the network leaves out in training.
    """

    of_networks: ClassVar[bool] = True
    epochs: ClassVar[int] = 16
    vectors: ClassVar[int] = 6
    may_be_zero: ClassVar[Sequence[str]] = ("freeze",)
    ranges: ClassVar[Mapping[str, str]] = {"rate": "log:1e-05:0.001", "layers": "float:0.7:1", "batch": "int-log:4:64"}
    rate: float = 2e-4
    labels: float = 20.0
    layers: float = 0.9
    features: float = 0.1
    batch: int = 8
    parts: int = 1
    decay: float = 0.01
    warm_up: float = 0.5
    longest: float = 1.0
    freeze: int | None = 0
    seed: int = 0

    def fine_tuning(self) -> AdamW:
        return replace(self, rate=0.3 * self.rate, features=0.3 * self.features)

    def iterations(self, objective: NetworkObjective, with_dev: bool) -> int:
        visited = len(objective.order(self.seed, 0, self.batch))
        return min(_MOST, max(_FEWEST, -(-_UPDATES // self._updates(visited))))

    def start(self, objective: NetworkObjective, weights: Floats) -> TrainerState:
        """Weights; of the network, the averages of gradients and of their squares; of features, the sum of squares."""
        weights = weights.astype(objective.dtype)
        size = objective.network(weights).size
        squares = np.full(objective.size - size, 0.1, objective.dtype)
        mean, square = (np.zeros(size, objective.dtype) for _ in range(2))
        return TrainerState({"weights": weights, "squares": squares, "mean": mean, "square": square})

    def rules(self, objective: NetworkObjective) -> StateRules:
        weights = state_weights(objective)
        size = objective.network(np.zeros(objective.size, objective.dtype)).size
        mean = replace(weights, shape=(size,))
        squares = replace(weights, shape=(objective.size - size,), least=1e-38)
        return StateRules({"weights": weights, "squares": squares, "mean": mean, "square": replace(mean, least=0.0)})

    def step(self, objective: NetworkObjective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        import torch

        torch.set_num_threads(objective.threads)
        torch.manual_seed(self.seed * 1_000_003 + state.iteration)
        weights, squares = state.weights, state.arrays["squares"]
        network = objective.network(weights)
        if self.freeze is not None:
            network.freeze(self.freeze)
        shuffled = objective.shuffled(objective.order(self.seed, state.iteration, self.batch))
        updates = self._updates(len(shuffled))
        total = updates * (watch.limit or self.iterations(objective, False))
        optimizer = self._optimizer(network, state, state.iteration * updates)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda number: self._share_of_rate(state.iteration * updates + number, updates, total)
        )
        gradient = np.zeros(len(squares), objective.dtype)  # of features and transitions
        state.loss = 0.0
        for first, last in watch.batches(len(shuffled), self.batch):
            for low, high in _parts(first, last, self.parts):
                state.loss += shuffled.add_batch(weights, low, high, gradient)
            weight_vectors.adagrad(
                weights, squares, gradient, *shuffled.touched(first, last), weights.dtype.type(self.features)
            )
            # the gradient is a sum over sentences; the length of all gradients does not change AdamW's steps
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.longest * (last - first))
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        _store(optimizer, network, state)
        state.iteration += 1

    def _optimizer(self, network: Any, state: TrainerState, updates: int) -> torch.optim.AdamW:
        """Return the optimizer of the network after so many updates."""
        import torch

        groups = [
            {
                "params": [weight for weight in weights if weight.requires_grad],
                "lr": self.rate * (self.labels if above < 0 else self.layers**above),
            }
            for above, weights in network.layers()
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=self.decay, fused=True)
        averages = (network.views(state.arrays[name]) for name in _AVERAGES.values())
        for weight, *of_weight in zip(network.parameters(), *averages, strict=True):
            if not weight.requires_grad:
                continue
            step = torch.tensor(float(updates), device=weight.device)
            tensors = (average.to(weight.device) for average in of_weight)
            optimizer.state[weight] = {"step": step, **dict(zip(_AVERAGES, tensors, strict=True))}
        return optimizer

    def _share_of_rate(self, number: int, updates: int, total: int) -> float:
        """Return which share of its rate an update has, the `number`-th from 0, of so many in an epoch and in all."""
        rises = min(1.0, (number + 1) / max(1.0, self.warm_up * updates))
        return float(rises * max(0.0, 1 - number / total))

    def _updates(self, sentences: int) -> int:
        """Return the number of updates in an epoch that visits so many sentences."""
        return -(-sentences // self.batch)


_AVERAGES = {"exp_avg": "mean", "exp_avg_sq": "square"}  # PyTorch's names, and those of the state


def _store(optimizer: torch.optim.AdamW, network: Any, state: TrainerState) -> None:
    """Copy weights and averages from another device; on the processor, they lie in the state already."""
    import torch

    of_state = state.weights[state.weights.size - network.size :], *(state.arrays[name] for name in _AVERAGES.values())
    with torch.no_grad():
        for weight, *stored in zip(network.parameters(), *map(network.views, of_state), strict=True):
            if weight.requires_grad:
                tensors = weight, *(optimizer.state[weight][name] for name in _AVERAGES)
                for tensor, view in zip(tensors, stored, strict=True):
                    view.copy_(tensor)


def _parts(first: int, last: int, parts: int) -> list[tuple[int, int]]:
    """Cut first .. last - 1 into parts of like size."""
    bounds = np.linspace(first, last, min(parts, last - first) + 1).astype(int).tolist()
    return list(pairwise(bounds))


LEARNER = AdamW
