"""The protocols of objectives and trainers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, Rule

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]


class Objective(Protocol):
    """The loss of a model's weights on training sentences; its `len` is the number of sentences with evidence."""

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The type of weights and gradients."""
        ...

    @property
    def threads(self) -> int:
        """How many threads may share the work."""
        ...

    def __len__(self) -> int: ...

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The loss of all sentences, and its gradient [size]."""
        ...

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """The loss of sentences first .. last - 1; adds its gradient to `gradient`."""
        ...

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks start[i] .. stop[i] - 1."""
        ...

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """The sentences of an iteration in the order in which it takes batches of them: a function of the arguments
        alone, so that resumed training repeats it."""
        ...

    def shuffled(self, order: NDArray[np.int64]) -> Objective:
        """The objective over these sentences, in this order."""
        ...


class MistakeObjective(Protocol):
    """The mistakes of a model's weights on training sentences."""

    @property
    def size(self) -> int:
        """The number of weights."""
        ...

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The type of weights and gradients."""
        ...

    def __len__(self) -> int: ...

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks start[i] .. stop[i] - 1."""
        ...

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """The sentences of an iteration in the order in which it takes batches of them: a function of the arguments
        alone, so that resumed training repeats it."""
        ...

    def shuffled(self, order: NDArray[np.int64]) -> MistakeObjective:
        """The objective over these sentences, in this order."""
        ...

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """For each sentence whose best sequence contradicts its evidence, subtracts features(best sequence) -
        features(best sequence that the evidence allows) from the weights, and `step` times as much from the totals.
        Updates once per `batch` of sentences first .. last - 1, and counts `step` up. Returns the number of such
        sentences."""
        ...

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """If the best sequence of a sentence contradicts its evidence, adds features(best sequence) - features(best
        sequence that the evidence allows) to `gradient`. Returns at how many positions it does, and how often the
        sentence counts, which the difference leaves out."""
        ...


@dataclass
class State:
    """The whole state of a trainer.

    Attributes:
        arrays: named arrays, `weights` among them.
        numbers: named scalars.
        iteration: how many iterations are done.
        loss: the training loss (or number of mistakes) of the last iteration.
        converged: whether training is finished.
    """

    arrays: dict[str, Floats]
    numbers: dict[str, float] = field(default_factory=dict)
    iteration: int = 0
    loss: float = float("nan")
    converged: bool = False

    @property
    def weights(self) -> Floats:
        """The weights as they stand."""
        return self.arrays["weights"]


@dataclass(frozen=True)
class StateRules:
    """What a trainer requires of a state read from a file.

    Attributes:
        arrays: by name; those that `start` makes.
        numbers: by name.
    """

    arrays: Mapping[str, ArrayRule] = field(default_factory=dict)
    numbers: Mapping[str, Rule] = field(default_factory=dict)


class Trainer(Protocol):
    """One learning algorithm.

    A trainer that updates on a few sentences at a time has an attribute `batch`, their number.
    """

    @property
    def epochs(self) -> int:
        """How many iterations usually suffice without development data."""
        ...

    @property
    def vectors(self) -> int:
        """How many arrays of the size of the weights are in memory at once: state, gradient and buffers, the result,
        and the best weights so far."""
        ...

    def fine_tuning(self) -> Trainer:
        """The trainer for weights that are good already: its first steps must not undo them."""
        ...

    def start(self, objective: Any, weights: Floats) -> State:
        """The state before the first iteration, from initial weights."""
        ...

    def rules(self, objective: Any) -> StateRules:
        """Requirements on a state read from a file."""
        ...

    def step(self, objective: Any, state: State) -> None:
        """One iteration: one epoch, or one step of a batch method."""
        ...

    def result(self, state: State) -> Floats:
        """The weights to use: for some trainers an average."""
        ...


@dataclass(frozen=True)
class TrainerAround:
    """A trainer around another one, to which it leaves whatever it does not do itself.

    Attributes:
        trainer: the other one.
    """

    trainer: Trainer

    @property
    def epochs(self) -> int:
        """See `Trainer.epochs`."""
        return self.trainer.epochs

    @property
    def vectors(self) -> int:
        """See `Trainer.vectors`."""
        return self.trainer.vectors

    def fine_tuning(self) -> Self:
        """The same around the trainer for fine-tuning."""
        return replace(self, trainer=self.trainer.fine_tuning())

    def start(self, objective: Any, weights: Floats) -> State:
        """See `Trainer.start`."""
        return self.trainer.start(objective, weights)

    def rules(self, objective: Any) -> StateRules:
        """See `Trainer.rules`."""
        return self.trainer.rules(objective)

    def step(self, objective: Any, state: State) -> None:
        """See `Trainer.step`."""
        self.trainer.step(objective, state)

    def result(self, state: State) -> Floats:
        """See `Trainer.result`."""
        return self.trainer.result(state)


def state_weights(objective: Any) -> ArrayRule:
    """The rule for arrays of a state that have the type and size of the weights."""
    return ArrayRule((np.dtype(objective.dtype).name,), (objective.size,), -LARGEST, LARGEST)


def batches(count: int, size: int) -> Iterator[tuple[int, int]]:
    """first, last of consecutive batches of `size` sentences."""
    for first in range(0, count, size):
        yield first, min(count, first + size)


def add_l2(c2: float, weights: Floats, loss: float, gradient: Floats) -> float:
    """The loss plus the regulariser c2 |w|^2; adds the gradient of the regulariser to `gradient`."""
    if not c2:
        return loss
    gradient += weights.dtype.type(2 * c2) * weights
    return loss + c2 * float(weights @ weights)
