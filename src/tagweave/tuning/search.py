"""The search: trials of a plan, then more seeds for the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from tagweave.errors import PlanError
from tagweave.tuning.study import Study, Trial, best_of
from tagweave.tuning.training import STEPS, Curve, PlanResult, carry_out

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.training.plan import TrainingPlan
    from tagweave.tuning.space import Space

_STARTUP = 5
"""So many trials are finished before one is pruned."""
_FIRST = 3
"""The first iteration after which a trial may be pruned: averages and small rates need some time."""


@dataclass(frozen=True)
class TrialTask:
    """A trial: its number, its plan, and the curves of finished trials by which it may stop early."""

    number: int
    plan: TrainingPlan
    curves: Sequence[Curve] = ()


def carry_out_trial(trial: TrialTask) -> PlanResult:
    """Train by the plan of a trial."""
    return carry_out(trial.plan, judge_by(trial.curves))


def judge_by(curves: Sequence[Curve]) -> Callable[[Curve], bool]:
    """Return a function that says whether a trial should stop whose curve has got one more score: its best score is
    below the median of finished ones at the same step."""
    if len(curves) < _STARTUP:
        return lambda curve: False
    from optuna import create_study, logging
    from optuna.pruners import MedianPruner
    from optuna.trial import TrialState, create_trial

    logging.set_verbosity(logging.ERROR)
    pruner = MedianPruner(n_startup_trials=_STARTUP, n_warmup_steps=STEPS + _FIRST)
    study = create_study(direction="maximize", pruner=pruner)
    study.add_trials(
        create_trial(state=TrialState.COMPLETE, value=max(each.values()), intermediate_values=dict(each))
        for each in curves
    )
    trial = study.ask()

    def is_behind(curve: Curve) -> bool:
        step = max(curve)
        trial.report(curve[step], step)
        return trial.should_prune()

    return is_behind


FINALISTS = 3
"""How many of the best trials are trained again with other seeds, beside the plan itself."""


@dataclass(frozen=True)
class Search:
    """How to search.

    Attributes:
        trials: how many trials the study is to have, including earlier runs.
        seeds: with how many other seeds the plan and the best trials are trained again; 0 for none.
        prunes: whether trials whose development scores fall behind are stopped.
    """

    trials: int = 40
    seeds: int = 2
    prunes: bool = True

    def __post_init__(self) -> None:
        if self.trials < 1 or self.seeds < 0:
            raise PlanError(f"found {self.trials} trials and {self.seeds} seeds, expected at least 1 and 0")


@dataclass(frozen=True)
class Finalist:
    """A trial that was trained again, and its development scores with other seeds."""

    trial: Trial
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the scores with other seeds; none of these was chosen because it is high."""
        return fmean(self.scores)


@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Attributes:
        plan: the best plan.
        best: its trial.
        trials: all trials, the plan itself first.
        finalists: the plan itself, then the best trials; () without other seeds.
        space: the search space.
    """

    plan: TrainingPlan
    best: Trial
    trials: tuple[Trial, ...]
    finalists: tuple[Finalist, ...]
    space: Space

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best plan as JSON, for `tagweave train --plan`."""
        self.plan.save(path)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw scores by trial and by value into a file (`.png`, `.svg` or `.pdf`)."""
        from tagweave.tuning.table import plot

        plot(self, Path(path))

    def render(self, console: Console | None = None) -> None:
        """Print the trials by score, and what other seeds say of the best."""
        from tagweave.evaluation.tables import table_console
        from tagweave.tuning.table import tables

        console = console or table_console()
        for table in tables(self):
            console.print(table)

    def to_json(self) -> dict[str, Any]:
        """Return the trials, the finalists, the search space and the best plan as plain data."""
        return {
            "best": self.best.number,
            "plan": self.plan.to_json(),
            "search": self.space.to_json(),
            "trials": [{**asdict(each), "curve": list(each.curve.values())} for each in self.trials],
            "finalists": [{"trial": each.trial.number, "scores": list(each.scores)} for each in self.finalists],
        }


def check(plan: TrainingPlan) -> None:
    """Raise PlanError unless a plan can be tuned."""
    if plan.dev is None:
        raise PlanError("found a plan without dev, expected development data: their score is what is tuned")


def search(
    space: Space,
    study: Study,
    how: Search,
    finished: Callable[[Trial], None] = lambda trial: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Tuning:
    """Run the trials that a study still lacks, and choose the best plan; `finished` is called after every trial."""
    check(space.plan)
    for task in _tasks(space, study, how, tell):
        finished(_trained(study, task))
    ranked = best_of(study.trials())
    if not ranked:
        raise PlanError("found no trial that came to its end, expected one: a smaller search space may help")
    finalists = _finalists(space, study, ranked, how.seeds, tell)
    best = max(finalists, key=lambda each: each.mean).trial if finalists else ranked[0]
    return Tuning(plan_of(space, best), best, tuple(study.trials()), finalists, space)


def plan_of(space: Space, trial: Trial) -> TrainingPlan:
    """Return the plan of a trial."""
    return space.plan if trial.is_default else space.with_values(trial.values)


def _tasks(space: Space, study: Study, how: Search, tell: Callable[[str], None]) -> Iterator[TrialTask]:
    """Yield the trials that the study still lacks."""
    while study.begun < how.trials:
        if (asked := study.ask(space.plan.seed)) is None:
            tell(f"the search space has hardly other values than those of {study.begun} trials: the search ends")
            return
        number, values = asked
        plan = space.with_values(values) if values else space.plan
        yield TrialTask(number, plan, study.curves() if how.prunes else ())


def _trained(study: Study, task: TrialTask) -> Trial:
    """Train a trial, and return its outcome. If its values do not work, it failed; other errors end the search."""
    try:
        result = carry_out_trial(task)
    except ValueError as error:
        if study.is_default(task.number):
            raise
        return study.tell_failure(task.number, str(error))
    return study.tell(task.number, result)


def _finalists(
    space: Space,
    study: Study,
    ranked: Sequence[Trial],
    seeds: int,
    tell: Callable[[str], None],
) -> tuple[Finalist, ...]:
    """Return the plan itself and the best trials, trained with other seeds; () if there is nothing to choose from."""
    default = [each for each in ranked if each.is_default]
    chosen = [*default, *[each for each in ranked if not each.is_default][:FINALISTS]]
    if not seeds or len(chosen) < 2:
        return ()
    pairs = [(trial, space.plan.seed + more) for trial in chosen for more in range(1, seeds + 1)]

    def key(trial: Trial, seed: int) -> str:
        return f"trial {trial.number}, seed {seed}"

    missing = {at: pair for at, pair in enumerate(pairs) if study.noted(key(*pair)) is None}
    plans = {at: replace(plan_of(space, trial), seed=seed) for at, (trial, seed) in missing.items()}
    tasks = [TrialTask(at, plan) for at, plan in plans.items()]
    if tasks:
        tell(f"{len(tasks)} trainings with other seeds, of the plan and the best trials")
    for task in tasks:
        study.note(key(*missing[task.number]), carry_out_trial(task).score or 0.0)
    return tuple(
        Finalist(trial, tuple(study.noted(key(trial, seed)) or 0.0 for of, seed in pairs if of is trial))
        for trial in chosen
    )
