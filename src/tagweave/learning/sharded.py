"""An objective whose sentences are on workers, in shards.

Sums of losses and gradients in the order of a binary tree, so that they do not depend on who adds which part.

Iterative parameter mixing (McDonald, Hall and Mann 2010): online learners on many workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tagweave.cluster.executor import Arrays, Reply, WorkerGroup, nothing
from tagweave.learning.trainer import UNWATCHED, Objective, Trainer, TrainerAround, TrainerState, Watch

Floats = NDArray[Any]


class PartialSum(NamedTuple):
    """The sum over consecutive leaves of the tree."""

    first: int
    leaves: int
    loss: float
    gradient: Floats


class PairwiseSum:
    """Adds parts, given from the first leaf to the last.

    Two parts are added as soon as they are the two halves of a node of the tree. So whoever adds a run of leaves has at
    most twice as many parts as the tree has levels, and all of them together give the same sum, bit for bit, however
    the leaves were shared out. The number of leaves is a power of two.
    """

    def __init__(self) -> None:
        self.parts: list[PartialSum] = []

    def add(self, part: PartialSum) -> None:
        """Add a part; its gradient may be overwritten if it is writable."""
        self.parts.append(part)
        while len(self.parts) > 1:
            left, right = self.parts[-2:]
            if left.leaves != right.leaves or left.first % (2 * left.leaves):
                break
            del self.parts[-2:]
            out = left.gradient if left.gradient.flags.writeable else np.empty_like(left.gradient)
            np.add(left.gradient, right.gradient, out=out)
            self.parts.append(PartialSum(left.first, 2 * left.leaves, left.loss + right.loss, out))

    def total(self) -> tuple[float, Floats]:
        """Return the sums over all leaves; the gradient can be written."""
        [part] = self.parts
        return part.loss, part.gradient if part.gradient.flags.writeable else part.gradient.copy()


_PARTS = 4
"""How many parts of its vectors a learner works on at a time: always the same number, since sums depend on it."""


@dataclass(frozen=True)
class ShardedObjective:
    """The loss of all sentences of a group of shards: an `Objective` of trainers that take all sentences at once.

    The workers hold `tagweave.training.sharded_job.TrainingShard`s; `aspect` says which objective over them is meant.

    Others mix the weights of shards (`Mixing`). `while_waiting`: called several times a second while workers work; may
    raise an exception to stop.
    """

    group: WorkerGroup
    aspect: Any
    size: int
    dtype: type[np.floating[Any]]
    sentences: int
    while_waiting: Callable[[], None] = nothing
    threads: int = _PARTS

    def __len__(self) -> int:
        return self.sentences

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """As `Objective`; the same, bit for bit, for any number of shards of the same blocks."""
        total = PairwiseSum()
        for gradients, parts in self._call("parts", {"weights": weights}):
            for (first, leaves, loss), gradient in zip(parts, gradients.values(), strict=True):
                total.add(PartialSum(first, leaves, loss, gradient))
        return total.total()

    def start(self, trainer: Trainer, weights: Floats) -> TrainerState:
        """Return the state of a trainer before its first iteration, according to the first shard."""
        (arrays, numbers), *_ = [
            (writable(arrays), numbers) for arrays, numbers in self._call("start", {"weights": weights}, trainer)
        ]
        return TrainerState(arrays, numbers)

    def part_of_iteration(self, trainer: Trainer, state: TrainerState, part: tuple[int, int]) -> Iterator[TrainerState]:
        """Yield the states after a part of the next iteration over every shard, by its number and of how many.

        Their arrays are valid until the next call.
        """
        for arrays, (numbers, loss, converged) in self._call(
            "part_of_iteration", state.arrays, trainer, dict(state.numbers), state.iteration, part
        ):
            yield TrainerState(dict(arrays), numbers, state.iteration + 1, loss, converged)

    def _call(self, method: str, arrays: Arrays, *plain: Any) -> Iterator[Reply]:
        return self.group.call(method, arrays, self.aspect, *plain, while_waiting=self.while_waiting)

    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError("found a trainer that takes batches of sentences, expected Mixing of it: they are on workers")

    add_batch = correct = touched = order = shuffled = _refuse


def writable(state_arrays: Arrays) -> dict[str, Floats]:
    """Copies of arrays that came to a worker: trainers change them in place, and kernels are compiled for such."""
    return {name: np.array(array) for name, array in state_arrays.items()}


@dataclass(frozen=True)
class Mixing(TrainerAround):
    """A trainer on shards: it goes over a part of each shard from the mixed state, and the states are mixed.

    A weight, and what belongs to it in other arrays of the state, becomes its mean over the shards that moved it
    (McDonald, Hall and Mann 2010 take all shards, so that a feature of one shard is learned slowly). AdaGrad's squares
    then are as large as after one pass over one shard: mixed weights have moved as far as one shard moves them, so the
    steps must not be as short as after all shards. Numbers are steps made; the largest stands for all, as if a smaller
    shard had waited without updates. States are mixed `times` in an iteration.
    """

    shards: ShardedObjective
    times: int

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        return self.shards.start(self.trainer, weights)

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """One iteration over every shard; the loss is the sum of theirs. An iteration cut short leaves no trace."""
        mixed = replace(state, loss=0.0, converged=True)
        for part in range(self.times):
            mixed = self._mixed(mixed, (part, self.times))
        vars(state).update(vars(mixed), iteration=state.iteration + 1)

    def _mixed(self, state: TrainerState, part: tuple[int, int]) -> TrainerState:
        """Return the state after a part of an iteration; its loss is added to the loss of the parts before."""
        states = []
        moves, sums = np.zeros_like(state.weights), {name: np.zeros_like(each) for name, each in state.arrays.items()}
        for own in self.shards.part_of_iteration(self.trainer, state, part):
            moved = own.weights != state.weights
            moves += moved
            for name, array in own.arrays.items():
                np.add(sums[name], array, out=sums[name], where=moved)
            last = own.arrays
            states.append(replace(own, arrays={}))
        means = {name: np.divide(sums[name], moves, out=np.array(each), where=moves > 0) for name, each in last.items()}
        numbers = {name: max(own.numbers[name] for own in states) for name in state.numbers}
        loss, converged = sum(own.loss for own in states), all(own.converged for own in states)
        return TrainerState(means, numbers, state.iteration, state.loss + loss, state.converged and converged)
