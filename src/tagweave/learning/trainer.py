"""The protocols of objectives and trainers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule
from tagweave.kernels.mistakes import StepRule
from tagweave.kernels.weight_vectors import dot

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]

_WITH_DEV = 100  # iterations at most, which development data end earlier
_EVERY = 1.0  # seconds between reports within an iteration


class Objective(Protocol):
    """The loss of a model's weights on training sentences; its `len` is the number of sentences with evidence."""

    @property
    def size(self) -> int: ...

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
        """Return the loss of all sentences, and its gradient [size]."""
        ...

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """Return the loss of sentences first .. last - 1; add its gradient to `gradient`."""
        ...

    def touched(self, first: int, last: int) -> Blocks:
        """Return the weights that sentences first .. last - 1 can touch, as blocks start[i] .. stop[i] - 1."""
        ...

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """Order the sentences of an iteration. Depends on the arguments alone, so that resumed training repeats it."""
        ...

    def shuffled(self, order: NDArray[np.int64]) -> Any:
        """Return the objective over these sentences, in this order."""
        ...


class DecodingObjective(Objective, Protocol):
    """An objective that finds the mistakes of decoding, for the perceptron and its kin."""

    def correct(
        self, weights: Floats, memory: Floats, first: int, last: int, batch: int, step: int, rule: StepRule
    ) -> float:
        """Take a step after every `batch` of sentences first .. last - 1, and count `step` up; return the sum of costs.

        For each sentence whose best labels contradict its evidence, `rule` moves the weights along the difference of
        their features and the features of the best labels that the evidence allows. `memory`, float64[size], is of
        the rule.
        """
        ...


@dataclass
class TrainerState:
    """The whole state of a trainer."""

    arrays: dict[str, Floats]
    numbers: dict[str, float] = field(default_factory=dict)
    iteration: int = 0
    loss: float = float("nan")
    converged: bool = False

    @property
    def weights(self) -> Floats:
        return self.arrays["weights"]


@dataclass(frozen=True)
class StateRules:
    """Requirements of a trainer on the arrays and numbers of a state read from a file."""

    arrays: Mapping[str, ArrayRule] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)  # the type of each, such as `rules.Whole`


@dataclass
class Watch:
    """Lets an iteration be cancelled before every batch, and reports its progress.

    Attributes:
        report: called at most once a second with the share of the sentences processed so far.
        limit: how many iterations there are at most; `None`: as many as the trainer usually takes.
    """

    before: Callable[[], None] = lambda: None
    report: Callable[[float], None] | None = None
    limit: int | None = None
    last: float = field(default_factory=time.perf_counter)

    def batches(self, count: int, size: int = 1) -> Iterator[tuple[int, int]]:
        """Yield first, last of consecutive batches of `size` sentences."""
        for first in range(0, count, size):
            last = min(count, first + size)
            self.before()
            yield first, last
            if self.report and (now := time.perf_counter()) - self.last >= _EVERY:
                self.last = now
                self.report(last / count)


UNWATCHED = Watch()


class Trainer(Protocol):
    """A learning algorithm. One that updates on a few sentences at a time has an attribute `batch`, their number."""

    @property
    def epochs(self) -> int:
        """How many iterations usually suffice without development data."""
        ...

    def iterations(self, objective: Any, with_dev: bool) -> int:
        """Return how many iterations there are at most, with development data that may end training or without."""
        ...

    @property
    def vectors(self) -> int:
        """How many arrays of the size of the weights are in memory at once: state, gradient and buffers, the result,
        and the best weights so far."""
        ...

    def fine_tuning(self) -> Trainer:
        """Return the trainer for weights that are good already: its first steps must not undo them."""
        ...

    def start(self, objective: Any, weights: Floats) -> TrainerState:
        """Return the state before the first iteration, from initial weights."""
        ...

    def rules(self, objective: Any) -> StateRules:
        """Return the requirements on a state read from a file."""
        ...

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        """Do one iteration: one epoch, or one step of a batch method."""
        ...

    def result(self, state: TrainerState) -> Floats:
        """Return the weights to use: for some trainers an average."""
        ...


@dataclass(frozen=True)
class TrainerAround:
    """A trainer that changes some of what another one does."""

    trainer: Trainer

    @property
    def epochs(self) -> int:
        return self.trainer.epochs

    def iterations(self, objective: Any, with_dev: bool) -> int:
        return self.trainer.iterations(objective, with_dev)

    @property
    def vectors(self) -> int:
        return self.trainer.vectors

    def fine_tuning(self) -> Self:
        return replace(self, trainer=self.trainer.fine_tuning())

    def start(self, objective: Any, weights: Floats) -> TrainerState:
        return self.trainer.start(objective, weights)

    def rules(self, objective: Any) -> StateRules:
        return self.trainer.rules(objective)

    def step(self, objective: Any, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        self.trainer.step(objective, state, watch)

    def result(self, state: TrainerState) -> Floats:
        return self.trainer.result(state)


class Learner:
    """What learners have in common unless they say otherwise.

    Attributes:
        mistake_driven: whether it compares the best labels with the best allowed ones: no gradients, no probabilities.
        of_networks: whether it trains a network beside features, and nothing else.
        may_be_zero: the whole numbers among its settings that may be 0.
        ranges: the usual ranges of its settings in a search, as `tagweave.tuning.space.distribution` reads them.
    """

    mistake_driven: ClassVar[bool] = False
    of_networks: ClassVar[bool] = False
    may_be_zero: ClassVar[Sequence[str]] = ()
    ranges: ClassVar[Mapping[str, str]] = {}
    epochs: ClassVar[int]

    def iterations(self, objective: Any, with_dev: bool) -> int:
        return _WITH_DEV if with_dev else self.epochs

    def fine_tuning(self) -> Self:
        return self

    def result(self, state: TrainerState) -> Floats:
        return state.weights


def state_weights(objective: Any) -> ArrayRule:
    """Return the rule for arrays of a state that have the type and size of the weights."""
    return ArrayRule((np.dtype(objective.dtype).name,), (objective.size,), -LARGEST, LARGEST)


def regularised(objective: Objective, weights: Floats, c2: float, watch: Watch = UNWATCHED) -> tuple[float, Floats]:
    """Return the loss of all sentences plus the regulariser c2 |w|^2, and the gradient of both."""
    watch.before()
    loss, gradient = objective.loss_and_gradient(weights)
    if not c2:
        return loss, gradient
    gradient += weights.dtype.type(2 * c2) * weights
    return loss + c2 * float(dot(weights, weights)), gradient
