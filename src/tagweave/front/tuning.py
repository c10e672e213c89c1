"""Tunes plans: finds values of their fields that make a better model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.streams.notes import Tell, say

if TYPE_CHECKING:
    from tagweave.training.plan import TrainingPlan
    from tagweave.tuning.search import Tuning
    from tagweave.tuning.study import Trial


def tune(
    plan: TrainingPlan | Mapping[str, Any] | str | PathLike[str],
    search: Mapping[str, Any] | None = None,
    trials: int = 40,
    seeds: int = 2,
    prune: bool = True,
    study: str | PathLike[str] | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    finished: Callable[[Trial], None] | None = None,
    tell: Tell = say,
) -> Tuning:
    """Search for values of a plan that reach a higher development score: `tagweave tune` in Python.

    Args:
        plan: the plan, its JSON, or the file of that; it has development data.
        search: ranges by the names of fields of the plan, of settings of its learner and of options of its method:
            `"log:0.01:1"` or `{"log": [0.01, 1]}`; also `float`, `int`, `int-log` and `choice`. By default those that
            suit the learner and the method.
        trials: how many trainings the study is to have, those of earlier runs included. The plan itself is the first.
        seeds: with how many other seeds the plan and the three best trials are trained at the end, to choose among
            them; 0 for none.
        prune: stop trials whose development scores fall behind the median of the others.
        study: where trials are kept, so that another call continues: a file (SQLite) or `postgresql://...`; by default
            in memory.
        cluster: where trials run: `local` (processes), `auto` or the address of a Ray cluster; by default in this
            process, one by one.
        workers: how many trials run at the same time.
        finished: called after every trial; by default it prints a line.
        tell: receives notes.

    Raises:
        PlanError: a plan without development data, unknown names, ranges that the plan cannot have.
        CorpusError, OSError: a file that cannot be read.
        StudyError: the study cannot be opened.
        ClusterError: the cluster cannot be reached, or a worker died.
    """
    from tagweave.cluster.executor import executor_at
    from tagweave.front.plans import resolve
    from tagweave.tuning.search import Search, check
    from tagweave.tuning.search import search as carry_out
    from tagweave.tuning.space import Space
    from tagweave.tuning.study import opened
    from tagweave.tuning.table import line

    how, given = Search(trials, seeds, prune), _plan(plan)
    check(given)
    space = Space.of(resolve(given, tell), search or {})

    def tell_trial(trial: Trial) -> None:
        tell(line(trial, trials))

    with (
        opened(space, None if study is None else fspath(study)) as kept,
        executor_at(cluster, workers, space.plan.threads) as executor,
    ):
        if done := len(kept.trials()):
            tell(f"{done} of {trials} trials are in the study already")
        return carry_out(space, kept, executor, how, finished or tell_trial, tell)


def _plan(plan: TrainingPlan | Mapping[str, Any] | str | PathLike[str]) -> TrainingPlan:
    from tagweave.training.again import plan_in
    from tagweave.training.plan import TrainingPlan
    from tagweave.training.plan_json import read_plan

    if isinstance(plan, TrainingPlan):
        return plan
    return plan_in(fspath(plan)) if isinstance(plan, str | PathLike) else read_plan(plan)
