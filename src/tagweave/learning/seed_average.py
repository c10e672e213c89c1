"""The mean of the weights of several trainings that differ in their seed alone (Wortsman et al. 2022, "model soups").

Such trainings see the same sentences in other orders, in coupled and merged models also other samples of them. Their
features are the same, so the mean of their weights is one model, which costs as much to run as any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import ArrayRule, Whole
from tagweave.learning.trainer import UNWATCHED, StateRules, Trainer, TrainerState, Watch

Floats = NDArray[Any]
Value = TypeVar("Value")

_ITERATION = "iteration"


@dataclass(frozen=True)
class SeedAverage:
    """Trainers side by side: an iteration is one of each, and the result is the mean of their results.

    The state has the arrays and numbers of all trainers, the first one has plain names. Every trainer
    counts its own iterations, so that one that was cut short leaves the means of the others right.
    """

    trainers: tuple[Trainer, ...]

    @classmethod
    def of(cls, trainer: Any, count: int) -> SeedAverage:
        return cls(tuple(replace(trainer, seed=trainer.seed + k) for k in range(count)))

    @property
    def epochs(self) -> int:
        return self.trainers[0].epochs

    def iterations(self, objective: Any, with_dev: bool) -> int:
        return self.trainers[0].iterations(objective, with_dev)

    @property
    def vectors(self) -> int:
        return sum(trainer.vectors for trainer in self.trainers)

    @property
    def batch(self) -> int:
        batch: int = getattr(self.trainers[0], "batch")  # noqa: B009 - not of every trainer
        return batch

    def fine_tuning(self) -> SeedAverage:
        return SeedAverage(tuple(trainer.fine_tuning() for trainer in self.trainers))

    def start(self, objective: Any, weights: Floats) -> TrainerState:
        joined = TrainerState({})
        for k, trainer in enumerate(self.trainers):
            _put(joined, k, trainer.start(objective, weights))
        return joined

    def rules(self, objective: Any) -> StateRules:
        """Those of every trainer, and the number of its iterations."""
        arrays: dict[str, ArrayRule] = {}
        numbers: dict[str, Any] = {}
        for k, trainer in enumerate(self.trainers):
            of_trainer = trainer.rules(objective)
            arrays |= {_name(k, name): rule for name, rule in of_trainer.arrays.items()}
            numbers |= {_name(k, name): rule for name, rule in {**of_trainer.numbers, _ITERATION: Whole}.items()}
        return StateRules(arrays, numbers)

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One iteration of every trainer; the loss is the mean of theirs."""
        states = []
        for k, trainer in enumerate(self.trainers):
            states.append(_take(state, k))
            try:
                trainer.step(objective, states[k], watch)
            finally:
                _put(state, k, states[k])
        state.loss = float(np.mean([one.loss if np.isfinite(one.weights).all() else np.nan for one in states]))
        state.converged = all(one.converged for one in states)
        state.iteration += 1

    def result(self, state: TrainerState) -> Floats:
        total = self.trainers[0].result(_take(state, 0)).copy()
        for k, trainer in enumerate(self.trainers[1:], 1):
            total += trainer.result(_take(state, k))
        total /= total.dtype.type(len(self.trainers))
        return total


def _name(k: int, name: str) -> str:
    """Return the name of an array or a number of trainer k in the joined state."""
    return f"{k}.{name}" if k else name


def _take(joined: TrainerState, k: int) -> TrainerState:
    """Return the state of trainer k, which shares its arrays with the joined one."""
    numbers = _own(joined.numbers, k)
    return TrainerState(_own(joined.arrays, k), numbers, int(numbers.pop(_ITERATION)))


def _own(values: Mapping[str, Value], k: int) -> dict[str, Value]:
    """What the joined state has of trainer k, by the names that the trainer gave it."""
    plain = {name: name.rpartition(".")[2] for name in values}
    return {plain_name: values[name] for name, plain_name in plain.items() if name == _name(k, plain_name)}


def _put(joined: TrainerState, k: int, state: TrainerState) -> None:
    """Make this the state of trainer k."""
    joined.arrays |= {_name(k, name): array for name, array in state.arrays.items()}
    joined.numbers |= {
        _name(k, name): number for name, number in {**state.numbers, _ITERATION: state.iteration}.items()
    }
