"""Trials as tasks: a training that stops when its development scores fall behind.

A trial takes the curves of the finished trials along, and Optuna's own pruner judges by them where the trial runs. So
no worker needs the database of the study, on whatever machine it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.training.plan_task import STEPS, Curve, PlanResult, PlanTask, carry_out

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.trial import Trial

_STARTUP = 5
"""So many trials are finished before one is pruned."""
_FIRST = 3
"""The first iteration after which a trial may be pruned: averages and small rates need some time."""


@dataclass(frozen=True)
class TrialTask:
    """A trial.

    Attributes:
        number: its number in the study.
        task: its training.
        curves: the curves of finished trials that were not pruned.
        prunes: whether it may stop early.
    """

    number: int
    task: PlanTask
    curves: Sequence[Curve]
    prunes: bool = True


def carry_out_trial(trial: TrialTask) -> PlanResult:
    """Train by the plan of a trial. Raises as `carry_out`."""
    return carry_out(trial.task, Pruning(trial.curves).is_behind) if trial.prunes else carry_out(trial.task)


class Pruning:
    """Judges a curve by others: it is behind if its best score is below the median of theirs at the same step."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self._trial = _running_beside(curves) if len(curves) >= _STARTUP else None

    def is_behind(self, curve: Curve) -> bool:
        """Whether a trial should stop whose curve has got one more score."""
        if self._trial is None:
            return False
        step = max(curve)
        self._trial.report(curve[step], step)
        return self._trial.should_prune()


def _running_beside(curves: Sequence[Curve]) -> Trial:
    """A running trial of a study in memory, beside finished ones with these curves."""
    from optuna import create_study, logging
    from optuna.trial import TrialState, create_trial

    logging.set_verbosity(logging.ERROR)
    study = create_study(direction="maximize", pruner=_pruner())
    study.add_trials(
        create_trial(state=TrialState.COMPLETE, value=max(each.values()), intermediate_values=dict(each))
        for each in curves
    )
    return study.ask()


def _pruner() -> BasePruner:
    from optuna.pruners import MedianPruner

    return MedianPruner(n_startup_trials=_STARTUP, n_warmup_steps=STEPS + _FIRST)
