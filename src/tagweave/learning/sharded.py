"""An objective whose sentences are on workers, in shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.cluster.group import Arrays, Group, Reply, nothing
from tagweave.learning.pairwise_sum import PairwiseSum, Part
from tagweave.learning.trainer import Blocks, Objective, State, Trainer

Floats = NDArray[Any]

_PARTS = 4
"""How many parts of its vectors a learner works on at a time: always the same number, since sums depend on it."""


class Shard(Protocol):
    """What a group has to hold: consecutive blocks of sentences. `aspect` says which objective over them is meant."""

    def parts(self, arrays: Arrays, aspect: Any) -> Reply:
        """The parts of the tree of blocks under `weights` (`PairwiseSum`): gradients; first, leaves, loss of each."""
        ...

    def start(self, arrays: Arrays, aspect: Any, trainer: Trainer) -> Reply:
        """The state of a trainer before its first iteration from `weights`: its arrays and its numbers."""
        ...

    def epoch(self, arrays: Arrays, aspect: Any, trainer: Trainer, numbers: dict[str, float], iteration: int) -> Reply:
        """The state after one more iteration over the shard: its arrays, and numbers, loss, convergence."""
        ...


@dataclass(frozen=True)
class ShardedObjective:
    """The loss of all sentences of a group of shards: an `Objective` of trainers that take all sentences at once.

    Others mix the weights of shards (`Mixing`).

    Attributes:
        group: holds a `Shard` for every item.
        aspect: plain data for its methods.
        size, dtype: as `Objective`.
        sentences: how many have evidence.
        while_waiting: called several times a second while workers work; may raise an exception to stop.
    """

    group: Group
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
                total.add(Part(first, leaves, loss, gradient))
        return total.total()

    def start(self, trainer: Trainer, weights: Floats) -> State:
        """The state of a trainer before its first iteration, according to the first shard."""
        states = [
            ({name: array.copy() for name, array in arrays.items()}, numbers)
            for arrays, numbers in self._call("start", {"weights": weights}, trainer)
        ]
        return State(*states[0])

    def epochs(self, trainer: Trainer, state: State) -> Iterator[State]:
        """The states after one more iteration over every shard. Their arrays are valid until the next call."""
        for arrays, (numbers, loss, converged) in self._call(
            "epoch", state.arrays, trainer, dict(state.numbers), state.iteration
        ):
            yield State(dict(arrays), numbers, state.iteration + 1, loss, converged)

    def _call(self, method: str, arrays: Arrays, *plain: Any) -> Iterator[Reply]:
        return self.group.call(method, arrays, self.aspect, *plain, while_waiting=self.while_waiting)

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def touched(self, first: int, last: int) -> Blocks:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def shuffled(self, order: NDArray[np.int64]) -> Objective:
        """Raises TypeError: sentences are on workers."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError("found a trainer that takes batches of sentences, expected Mixing of it: they are on workers")


def writable(state_arrays: Arrays) -> dict[str, Floats]:
    """Copies of arrays that came to a worker: trainers change them in place, and kernels are compiled for such."""
    return {name: np.array(array) for name, array in state_arrays.items()}
