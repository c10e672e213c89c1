"""The training loop: iterations, evaluation on development data, early stopping, interruption and resumption.

A trainer's state on disk, so that training can resume after an interrupt or a crash.

It is many times the size of a model, so it is written as often as a small share of the time allows, not after every
iteration: a process that is killed or interrupted loses no more. A copy in memory would take as much as training.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave.corpus.files import whole_file
from tagweave.errors import TagweaveError
from tagweave.features.rules import Number, Schema, check_arrays, checked, digest_of, refuse
from tagweave.learning.run import SILENT, Iteration, OutOfTime, ProgressCallback, Run
from tagweave.learning.trainer import Objective, StateRules, Trainer, TrainerState, Watch

SHARE = 0.03
"""Of the time of training, what writing may take: 120 MB are written every five seconds."""

_Count = Annotated[int, Meta(ge=0, le=1 << 31)]


class _Best(Schema):
    score: Number | None
    wait: _Count


class _Head(Schema):
    run: str
    numbers: dict[str, Number]
    iteration: _Count
    loss: Annotated[float, Meta(ge=-1e300, le=1e300)]
    converged: bool
    best: _Best


class CheckpointError(TagweaveError):
    """A checkpoint that cannot be read, or that belongs to another training run."""


def save_checkpoint(path: Path, state: TrainerState, best: dict[str, Any], run: str) -> None:
    """Write a state and the best weights so far beside `path`, then rename. `best`: `weights` (an array or `None`), and
    scalars that describe them."""
    arrays = {f"state.{name}": np.ascontiguousarray(array) for name, array in state.arrays.items()}
    scalars = {key: value for key, value in best.items() if key != "weights"}
    if best.get("weights") is not None:
        arrays["best.weights"] = np.ascontiguousarray(best["weights"])
    data = {
        "run": run,
        "numbers": state.numbers,
        "iteration": state.iteration,
        "loss": state.loss,
        "converged": state.converged,
        "best": scalars,
    }
    data["digest"] = digest_of(data, arrays)
    try:
        with whole_file(path) as new_path:
            save_file(arrays, new_path, {"tagweave": json.dumps(data)})
    except SafetensorError as error:
        raise OSError(f"{path}: the checkpoint cannot be written ({error})") from error


@dataclass
class TimedCheckpoint:
    """The checkpoint of a training under way. `clock`: the time in seconds."""

    path: Path
    run: str
    clock: Callable[[], float]
    tell: Callable[[str], None]
    _failed: bool = field(init=False, default=False)
    _due: float = field(init=False, default=-inf)
    _iteration: int = field(init=False, default=-1)  # the last one written

    def keep(self, state: TrainerState, best: dict[str, Any], is_last: bool = False) -> None:
        """Write the state after an iteration if it is time to, or the last one unless it has been written.

        If that fails, as on a full disk, training goes on, and the next attempt is as far away as after a success.
        """
        begin = self.clock()
        if state.iteration == self._iteration or (begin < self._due and not is_last):
            return
        try:
            save_checkpoint(self.path, state, best, self.run)
            self._iteration = state.iteration
        except OSError as error:
            if not self._failed:
                self.tell(f"warning: no checkpoint: {error.strerror or error} ({self.path}); training goes on without")
            self._failed = True
        end = self.clock()
        self._due = end + (end - begin) / SHARE


def load_checkpoint(path: Path, run: str, rules: StateRules) -> tuple[TrainerState, dict[str, Any]]:
    """Return the state and the best weights that `save_checkpoint` wrote."""
    try:
        with safe_open(path, "numpy") as file:
            data = json.loads((file.metadata() or {})["tagweave"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if data.pop("digest") != digest_of(data, arrays):
            raise ValueError("its digest does not match its content")
        head = checked(data, _Head)
        if head.run != run:
            raise CheckpointError(f"{path}: a checkpoint of another training run; delete it to start anew")
        if data["numbers"].keys() != rules.numbers.keys():
            refuse(sorted(data["numbers"]), "numbers", f"{sorted(rules.numbers)}")
        numbers = {name: checked(data["numbers"][name], kind, name) for name, kind in rules.numbers.items()}
        needed = {f"state.{name}": rule for name, rule in rules.arrays.items()}
        if head.best.score is not None:
            needed["best.weights"] = rules.arrays["weights"]
        check_arrays(arrays, needed)
        of_state = {name: arrays[f"state.{name}"] for name in rules.arrays}
        state = TrainerState(of_state, numbers, head.iteration, head.loss, head.converged)
        return state, {"score": head.best.score, "wait": head.best.wait, "weights": arrays.get("best.weights")}
    except CheckpointError:
        raise
    except (SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CheckpointError(
            f"{path}: not a checkpoint, or a damaged one ({error!r}); delete it to start anew"
        ) from error


Floats = NDArray[Any]


@dataclass
class FitOutcome:
    """The result of training."""

    weights: Floats  # those of the best iteration on development data, or of the last iteration without such data
    history: list[Iteration] = field(default_factory=list)
    score: float | None = None  # the best development score; the last one where scores are only reported
    iterations: int = 0  # how many are done, including those before a resumption
    interrupted: bool = False
    # whether the last loss or weights were not finite; `weights` are those of an earlier iteration
    diverged: bool = False

    def check_finished(self) -> None:
        """Raise KeyboardInterrupt if the user stopped this training, and with it all that was to be built on it."""
        if self.interrupted:
            raise KeyboardInterrupt


class TrainingError(TagweaveError):
    """Training that diverged, with no earlier weights to keep."""


def train(
    trainer: Trainer,
    objective: Objective,
    weights: Floats,
    run: Run = SILENT,
    evaluate: Callable[[Floats], float] | None = None,
) -> FitOutcome:
    """Run a trainer to its end, to the limit, or until the development score stops rising.

    An interrupt (Ctrl-C) or the cancellation of the run ends training after the current sentence batch and keeps the
    best weights so far; the checkpoint then has the state after an earlier iteration. A loss or weight that is not
    finite ends training, too; such a state is neither evaluated nor saved as a checkpoint. The deadline of the run ends
    training after the current batch; if that is in the first iteration, its weights so far are kept.
    """
    begin, schedule = run.clock(), run.schedule
    limit = schedule.iterations or trainer.iterations(objective, evaluate is not None)
    try:
        run.stop_if_cancelled()
        if schedule.can_resume and schedule.checkpoint:
            state, best = load_checkpoint(schedule.checkpoint, schedule.identity, trainer.rules(objective))
        else:
            state, best = trainer.start(objective, weights), {"weights": None, "score": None, "wait": 0}
    except KeyboardInterrupt:  # starting may take long: SGD tries several rates
        return FitOutcome(weights, interrupted=True)
    outcome = FitOutcome(weights, score=best["score"])
    checkpoint = schedule.checkpoint and TimedCheckpoint(schedule.checkpoint, schedule.identity, run.clock, run.tell)
    try:
        while state.iteration < limit and not state.converged and best["wait"] < schedule.patience:
            if run.is_over and state.iteration:
                raise OutOfTime
            before = state.iteration
            run.stop_if_cancelled()
            trainer.step(objective, state, _watch(before + 1, limit, run))
            if state.iteration == before:
                break
            if not (np.isfinite(state.loss) and np.isfinite(state.weights).all()):
                outcome.diverged = True
                break
            iteration = _judge(trainer, state, best, evaluate, run.clock() - begin, schedule.selects)
            outcome.history.append(iteration)
            if checkpoint:
                checkpoint.keep(state, best)
            run.callback.iteration(iteration, limit)
    except KeyboardInterrupt:
        outcome.interrupted = True
    except OutOfTime:
        if run.is_optional:
            raise
        if not state.iteration:  # in the first iteration
            state.iteration = 1
            outcome.history.append(_judge(trainer, state, best, evaluate, run.clock() - begin, schedule.selects))
        run.tell(f"time is over after iteration {state.iteration} of at most {limit}")
    if checkpoint and schedule.is_part and not (outcome.interrupted or outcome.diverged):
        checkpoint.keep(state, best, is_last=True)
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


def _watch(number: int, limit: int, run: Run) -> Watch:
    """Report the progress of an iteration to the run's callback, and let the run be cancelled."""
    callback, begin = run.callback, run.clock()
    if not isinstance(callback, ProgressCallback):
        return Watch(run.stop_if_over, limit=limit)
    within = callback.within_iteration
    return Watch(run.stop_if_over, lambda share: within(number, share, run.clock() - begin), limit)


def _judge(
    trainer: Trainer,
    state: TrainerState,
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
