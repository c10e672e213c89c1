"""Iterative parameter mixing (McDonald, Hall and Mann 2010): online learners on many workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from tagweave.learning.sharded import ShardedObjective
from tagweave.learning.trainer import Objective, State, TrainerAround

Floats = NDArray[Any]


@dataclass(frozen=True)
class Mixing(TrainerAround):
    """A trainer on shards: every iteration it goes over each shard from the mixed state, and the states are mixed.

    All arrays of the state are averaged, each shard with the same share (the paper's uniform mixing): weights; sums of
    weights, whose mean is the sum of the means; and AdaGrad's squares, which are then those of one pass over one shard:
    mixed weights have moved as far as one shard moves them, so the steps must not be as short as after all shards.
    Numbers are steps made; the largest stands for all, as if a smaller shard had waited without updates.

    Attributes:
        trainer: the trainer of a shard.
        shards: the sentences.
    """

    shards: ShardedObjective

    def start(self, objective: Objective, weights: Floats) -> State:
        """As `Trainer`."""
        return self.shards.start(self.trainer, weights)

    def step(self, objective: Objective, state: State) -> None:
        """One iteration over every shard; the loss is the sum of theirs. An iteration cut short leaves no trace."""
        sums: dict[str, Floats] = {}
        states = []
        for own in self.shards.epochs(self.trainer, state):
            for name, array in own.arrays.items():
                if name in sums:
                    sums[name] += array
                else:
                    sums[name] = array.copy()
            states.append(replace(own, arrays={}))
        state.arrays = {name: total / total.dtype.type(len(states)) for name, total in sums.items()}
        state.numbers = {name: max(own.numbers[name] for own in states) for name in state.numbers}
        state.loss = sum(own.loss for own in states)
        state.converged = all(own.converged for own in states)
        state.iteration += 1
