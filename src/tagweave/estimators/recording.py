"""Records a training for `ChainCRF.training_log_`, and tells others about every iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.estimators.training_log import TrainingLog, line_of
from tagweave.learning.callback import Iteration
from tagweave.learning.trainer import Objective, State, TrainerAround

Floats = NDArray[Any]


@dataclass
class Recording:
    """A `Callback` that fills a log.

    Attributes:
        log: the log.
        listeners: called with the log after every iteration.
        details: of the iteration that is running: what others found out about it.
    """

    log: TrainingLog
    listeners: Sequence[Callable[[TrainingLog], None]] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """Add the iteration to the log, and call the listeners."""
        before = self.log[-1].seconds if self.log else 0.0
        info = {"num": iteration.number, "scores": {}, "loss": iteration.loss, "time": iteration.seconds - before}
        self.log.append(iteration)
        self.log.iterations.append({**info, **self.details})
        self.details = {}
        for listener in self.listeners:
            listener(self.log)


@dataclass(frozen=True)
class Recorded(TrainerAround):
    """A trainer whose weights are measured after every iteration."""

    recording: Recording

    def step(self, objective: Objective, state: State) -> None:
        """One iteration."""
        super().step(objective, state)
        norm, active = float(np.linalg.norm(state.weights)), int(np.count_nonzero(state.weights))
        self.recording.details |= {"feature_norm": norm, "active_features": active}


def print_iteration(log: TrainingLog) -> None:
    """Print the last iteration."""
    print(line_of(log[-1]))


@dataclass
class Hooks:
    """Calls the methods of an object of `trainer_cls`, which are those of python-crfsuite's trainers.

    Attributes:
        trainer: an object; what it has of `on_start`, `on_iteration`, `on_optimization_end` and `on_end` is called with
            a line of text, `on_iteration` also with the last of `TrainingLog.iterations`. Its attribute `logparser` is
            set to the log, in which these methods look things up.
    """

    trainer: Any

    def iteration(self, log: TrainingLog) -> None:
        """After every iteration."""
        if len(log) == 1:
            self.trainer.logparser = log
            self._call("on_start", f"{log.featgen_num_features} features\n")
        self._call("on_iteration", log.log[-1] + "\n", log.last_iteration)

    def end(self, log: TrainingLog) -> None:
        """After the last iteration."""
        if log:
            self._call("on_optimization_end", f"{log.training_seconds:.1f} s\n")
            self._call("on_end", "")

    def _call(self, name: str, *arguments: Any) -> None:
        if (method := getattr(self.trainer, name, None)) is not None:
            method(*arguments)
