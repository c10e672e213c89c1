"""Training: iterations of a trainer, watched on development data, stopped early, interrupted and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.checkpoint import load_checkpoint, save_checkpoint
from tagweave.learning.epoch_progress import ReportingObjective
from tagweave.learning.trainer import Objective, State, Trainer

Floats = NDArray[Any]

_WITH_DEV = 100


@dataclass(frozen=True)
class Iteration:
    """What one iteration came to.

    Attributes:
        number: from 1.
        loss: the training loss.
        score: the score on development data, `None` without any.
        best: whether it is the best score so far.
        seconds: since training began, evaluation included.
        phase: the name of the part of a training of several; "" where it is the only one.
    """

    number: int
    loss: float
    score: float | None
    best: bool
    seconds: float
    phase: str = ""


class Callback(Protocol):
    """Whoever shows the progress of training."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Called after every iteration; `limit` is the largest number of iterations."""
        ...


@runtime_checkable
class ProgressCallback(Callback, Protocol):
    """Whoever shows how far an iteration is, too."""

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Called about every second: which share of the sentences iteration `number` has seen, after so many
        seconds."""
        ...


@dataclass(frozen=True)
class Phase:
    """Tells a callback of the iterations of one part of a training, under the name of that part."""

    callback: Callback
    name: str

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Pass it on."""
        self.callback.iteration(replace(iteration, phase=self.name), limit)

    def within_iteration(self, number: int, share: float, seconds: float) -> None:
        """Pass it on to whoever shows it."""
        if isinstance(self.callback, ProgressCallback):
            self.callback.within_iteration(number, share, seconds)


class Silence:
    """Shows nothing."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Schedule:
    """When training stops, and what it leaves behind.

    Attributes:
        iterations: the largest number of iterations; `None`: 100 with development data, else as many as usually
            suffice for the trainer.
        patience: stop after so many iterations without a better development score.
        checkpoint: where the state is kept after every iteration; `None` keeps none.
        resume: go on from the checkpoint if there is one.
        run: what identifies the run.
    """

    iterations: int | None = None
    patience: int = 5
    checkpoint: Path | None = None
    resume: bool = False
    run: str = ""

    @property
    def can_resume(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return self.resume and self.checkpoint is not None and self.checkpoint.exists()

    def of_part(self, part: str) -> Schedule:
        """The schedule of a named part of the training, which has its own checkpoint."""
        checkpoint = self.checkpoint and self.checkpoint.with_name(f"{self.checkpoint.name}.{part}")
        return replace(self, checkpoint=checkpoint, run=f"{self.run} {part}")


@dataclass
class Outcome:
    """What training came to.

    Attributes:
        weights: of the best iteration on development data, of the last without any.
        history: every iteration.
        score: the best development score.
        iterations: how many are done, those before a resumption included.
        interrupted: whether the user stopped it.
        diverged: whether loss or weights were no finite numbers at last; `weights` are those of an iteration before.
    """

    weights: Floats
    history: list[Iteration] = field(default_factory=list)
    score: float | None = None
    iterations: int = 0
    interrupted: bool = False
    diverged: bool = False


class TrainingError(ValueError):
    """Training that ended in numbers that are not finite, with no better weights to keep."""


def train(
    trainer: Trainer,
    objective: Objective,
    weights: Floats,
    schedule: Schedule,
    evaluate: Callable[[Floats], float] | None = None,
    callback: Callback | None = None,
) -> Outcome:
    """Run a trainer to its end, to the limit, or until the development score stops rising.

    An interrupt (Ctrl-C) ends training after the current sentence batch and keeps the best weights so far. So does a
    loss or a weight that is no finite number; such a state is never judged, and never kept as a checkpoint.

    Args:
        trainer: the algorithm.
        objective: what it minimises.
        weights: where it begins.
        schedule: when it stops.
        evaluate: the development score of weights, higher is better.
        callback: is told of every iteration.

    Raises:
        TrainingError: a loss or a weight became infinite or nan, and no development score tells which weights to keep.
        CheckpointError: the checkpoint to go on from is damaged, or of another run.
    """
    begin = time.perf_counter()
    limit = schedule.iterations or (trainer.epochs if evaluate is None else _WITH_DEV)
    try:
        state, best = _begin(trainer, objective, weights, schedule)
    except KeyboardInterrupt:  # a trainer may take its time to begin: SGD tries rates
        return Outcome(weights, interrupted=True)
    outcome = Outcome(weights, score=best["score"])
    try:
        while state.iteration < limit and not state.converged and best["wait"] < schedule.patience:
            before = state.iteration
            trainer.step(_told(objective, before + 1, callback), state)
            if state.iteration == before:
                break
            if not _is_finite(state):
                outcome.diverged = True
                break
            iteration = _judge(trainer, state, best, evaluate, time.perf_counter() - begin)
            outcome.history.append(iteration)
            if schedule.checkpoint:
                save_checkpoint(schedule.checkpoint, state, best, schedule.run)
            (callback or Silence()).iteration(iteration, limit)
    except KeyboardInterrupt:
        outcome.interrupted = True
    if outcome.diverged and best["weights"] is None:
        raise TrainingError(
            f"training diverged in iteration {state.iteration}: found a loss of {state.loss:g}, expected finite losses"
            " and weights; a smaller learning rate or a stronger regulariser may help"
        )
    outcome.weights = trainer.result(state) if best["weights"] is None else best["weights"]
    outcome.score, outcome.iterations = best["score"], state.iteration
    return outcome


def _told(objective: Objective, number: int, callback: Callback | None) -> Objective:
    """The objective of an iteration, of which a callback sees how far it is."""
    if not isinstance(callback, ProgressCallback):
        return objective
    begin, shown = time.perf_counter(), callback
    return ReportingObjective(
        objective, lambda share: shown.within_iteration(number, share, time.perf_counter() - begin)
    )


def _is_finite(state: State) -> bool:
    return bool(np.isfinite(state.loss) and np.isfinite(state.weights).all())


def _begin(trainer: Trainer, objective: Objective, weights: Floats, schedule: Schedule) -> tuple[State, dict[str, Any]]:
    if schedule.can_resume and schedule.checkpoint:
        return load_checkpoint(schedule.checkpoint, schedule.run, trainer.rules(objective))
    return trainer.start(objective, weights), {"weights": None, "score": None, "wait": 0}


def _judge(
    trainer: Trainer,
    state: State,
    best: dict[str, Any],
    evaluate: Callable[[Floats], float] | None,
    seconds: float,
) -> Iteration:
    """Score the weights, and keep them if they are the best."""
    if evaluate is None:
        return Iteration(state.iteration, state.loss, None, False, seconds)
    weights = trainer.result(state)
    score = evaluate(weights)
    better = best["score"] is None or score > best["score"]
    if better:
        best.update(weights=np.array(weights), score=score, wait=0)
    else:
        best["wait"] += 1
    return Iteration(state.iteration, state.loss, score, better, seconds)
