"""The training loop: iterations, evaluation on development data, early stopping, interruption and resumption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.errors import InputError
from tagweave.learning.callback import Iteration, ProgressCallback
from tagweave.learning.checkpoint import TimedCheckpoint, load_checkpoint
from tagweave.learning.epoch_progress import ReportingObjective
from tagweave.learning.run import SILENT, Run, Schedule
from tagweave.learning.trainer import Objective, State, Trainer

Floats = NDArray[Any]

_WITH_DEV = 100


@dataclass
class Outcome:
    """The result of training.

    Attributes:
        weights: those of the best iteration on development data, or of the last iteration without such data.
        history: every iteration.
        score: the best development score; the last one where scores are only reported.
        iterations: how many are done, including those before a resumption.
        interrupted: whether the user stopped it.
        diverged: whether the last loss or weights were not finite; `weights` are those of an earlier iteration.
    """

    weights: Floats
    history: list[Iteration] = field(default_factory=list)
    score: float | None = None
    iterations: int = 0
    interrupted: bool = False
    diverged: bool = False

    def check_finished(self) -> None:
        """Raise KeyboardInterrupt if the user stopped this training, and with it all that was to be built on it."""
        if self.interrupted:
            raise KeyboardInterrupt


class TrainingError(InputError):
    """Training that diverged, with no earlier weights to keep."""


def train(
    trainer: Trainer,
    objective: Objective,
    weights: Floats,
    run: Run = SILENT,
    evaluate: Callable[[Floats], float] | None = None,
) -> Outcome:
    """Run a trainer to its end, to the limit, or until the development score stops rising.

    An interrupt (Ctrl-C) or the cancellation of the run ends training after the current sentence batch and keeps the
    best weights so far; the checkpoint then has the state before the iteration that it cut short. A loss or weight that
    is not finite ends training, too; such a state is neither evaluated nor saved as a checkpoint.

    Args:
        trainer: the algorithm.
        objective: what it minimises.
        weights: the initial weights.
        run: its schedule, callback and cancellation.
        evaluate: the development score of weights; higher is better.

    Raises:
        TrainingError: a loss or weight became infinite or nan, and no development score says which weights to keep.
        CheckpointError: the checkpoint to resume from is damaged, or belongs to another run.
    """
    begin, schedule = run.clock(), run.schedule
    limit = schedule.iterations or (trainer.epochs if evaluate is None else _WITH_DEV)
    try:
        run.stop_if_cancelled()
        state, best = _begin(trainer, objective, weights, schedule)
    except KeyboardInterrupt:  # starting may take long: SGD tries several rates
        return Outcome(weights, interrupted=True)
    outcome = Outcome(weights, score=best["score"])
    checkpoint = schedule.checkpoint and TimedCheckpoint(schedule.checkpoint, schedule.identity, run.clock)
    try:
        while state.iteration < limit and not state.converged and best["wait"] < schedule.patience:
            before = state.iteration
            run.stop_if_cancelled()
            trainer.step(_reporting(objective, before + 1, run), state)
            if state.iteration == before:
                break
            if not _is_finite(state):
                outcome.diverged = True
                break
            iteration = _judge(trainer, state, best, evaluate, run.clock() - begin, schedule.selects)
            outcome.history.append(iteration)
            if checkpoint:
                checkpoint.keep(state, best)
            run.callback.iteration(iteration, limit)
    except KeyboardInterrupt:
        outcome.interrupted = True
    if checkpoint and (outcome.interrupted or schedule.is_part):
        checkpoint.write()
    if outcome.diverged and best["weights"] is None:
        raise TrainingError(
            f"training diverged in iteration {state.iteration}: found a loss of {state.loss:g}, expected finite losses"
            " and weights; a smaller learning rate or a stronger regulariser may help"
        )
    outcome.weights = trainer.result(state) if best["weights"] is None else best["weights"]
    outcome.score, outcome.iterations = best["score"], state.iteration
    if outcome.history and not schedule.selects:
        outcome.score = outcome.history[-1].score
    return outcome


def _reporting(objective: Objective, number: int, run: Run) -> Objective:
    """The objective of an iteration, which reports progress to the run's callback and lets the run be cancelled."""
    callback, begin = run.callback, run.clock()
    if isinstance(callback, ProgressCallback):
        progress_callback = callback

        def report(share: float) -> None:
            progress_callback.within_iteration(number, share, run.clock() - begin)

        return ReportingObjective(objective, report, run.stop_if_cancelled)
    return ReportingObjective(objective, None, run.stop_if_cancelled) if run.can_be_cancelled else objective


def _is_finite(state: State) -> bool:
    return bool(np.isfinite(state.loss) and np.isfinite(state.weights).all())


def _begin(trainer: Trainer, objective: Objective, weights: Floats, schedule: Schedule) -> tuple[State, dict[str, Any]]:
    if schedule.can_resume and schedule.checkpoint:
        return load_checkpoint(schedule.checkpoint, schedule.identity, trainer.rules(objective))
    return trainer.start(objective, weights), {"weights": None, "score": None, "wait": 0}


def _judge(
    trainer: Trainer,
    state: State,
    best: dict[str, Any],
    evaluate: Callable[[Floats], float] | None,
    seconds: float,
    selects: bool,
) -> Iteration:
    """Score the weights, and keep them if they are the best so far and the score selects them."""
    if evaluate is None:
        return Iteration(state.iteration, state.loss, None, False, seconds)
    weights = trainer.result(state)
    score = evaluate(weights)
    better = best["score"] is None or score > best["score"]
    if better:
        best.update(weights=np.array(weights) if selects else None, score=score, wait=0)
    elif selects:
        best["wait"] += 1
    return Iteration(state.iteration, state.loss, score, better, seconds)
