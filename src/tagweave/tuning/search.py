"""The search: Optuna proposes values, a training by each is a trial, and the best are trained with other seeds.

A study is named by a digest of its plan and its search space. So the same search, later or on another machine,
continues its study in the same storage, and another search begins its own.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning, StorageInternalError, TrialPruned
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import MaxTrialsCallback
from optuna.trial import FrozenTrial, Trial, TrialState
from rich.table import Table
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from tagweave.errors import PlanError
from tagweave.evaluation.tables import table_console
from tagweave.learning.run import SILENCE, Iteration, Run
from tagweave.training.corpora import opened
from tagweave.training.job import Job
from tagweave.training.plan import Plan, ResolvedPlan
from tagweave.training.race import decided
from tagweave.training.resolve import job_of
from tagweave.training.train import train, train_step
from tagweave.tuning.space import Space, check_names

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.exchange.load import SourceFile
    from tagweave.training.corpora import LoadedSource

FINALISTS = 3
"""How many of the best trials are trained again with other seeds, beside the plan itself."""
FOLDS = 5
"""Without development data, the score of a trial is the mean of so many folds of TRAIN."""
_STEPS = 1_000
"""The step of iteration N of fit F, both from 1, is F * _STEPS + N."""
_STARTUP, _FIRST = 5, 3
"""A trial may be pruned after so many finished ones, from this iteration on: small rates need some time."""
_PLAN, _PROBLEM, _REPEATS = "plan", "problem", "repeats"
_BEGUN = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)
_HEARTBEAT = 10  # seconds; a trial whose process has been silent for twice as long is repeated
_ROWS = 20


class _UnusableValuesError(Exception):
    """Values of a trial by which no model can be trained."""


@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Attributes:
        plan: the best plan.
        best: its trial.
        trials: the finished trials of Optuna, the plan itself first, without those that repeat the values of others.
        seeds: by trial, the scores of the plan itself and of the best trials with other seeds; {} without these.
        space: the search space.
    """

    plan: Plan
    best: FrozenTrial
    trials: tuple[FrozenTrial, ...]
    seeds: Mapping[int, Sequence[float]]
    space: Space

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best plan as JSON, for `tagweave train --plan`."""
        self.plan.save(path)

    def gain(self) -> str:
        """Return a line that says what the search has gained."""
        plan = self.trials[0]
        tried = f"{len(self.trials)} trials"
        if self.best.number == plan.number:
            return f"the plan itself is the best of {tried}"
        pairs = [("score", plan.values, self.best.values)]
        if self.seeds:
            pairs.append(("other seeds", self.seeds[plan.number], self.seeds[self.best.number]))
        gains = [f"{name} {fmean(old):.4f} -> {fmean(new):.4f}" for name, old, new in pairs]
        return f"trial {self.best.number} is the best of {tried}: {', '.join(gains)}"

    def render(self, console: Console | None = None) -> None:
        """Print the best trials and the plan itself, by score."""
        table = Table(title="Trials by score", title_justify="left")
        for name in ("trial", *self.space.ranges, "score", *(["other seeds"] if self.seeds else []), ""):
            table.add_column(name, justify="right" if name else "left")
        trials = sorted(self.trials, key=_rank)
        for trial in {trial.number: trial for trial in (*trials[:_ROWS], self.trials[0], self.best)}.values():
            values = [_shown(trial.params[name]) if name in trial.params else "" for name in self.space.ranges]
            seeds = self.seeds.get(trial.number)
            seed_cells = [f"{fmean(seeds):.4f}" if seeds else ""] if self.seeds else []
            score = "" if trial.value is None else f"{trial.value:.4f}"
            notes = [_note(trial), "chosen" if trial.number == self.best.number else ""]
            table.add_row(str(trial.number), *values, score, *seed_cells, ", ".join(filter(None, notes)))
        (console or table_console()).print(table)

    def to_json(self) -> dict[str, Any]:
        """Return the trials, the search space and the best plan as plain data."""
        return {
            "best": self.best.number,
            "plan": self.plan.to_json(),
            "search": self.space.to_json(),
            "trials": [
                {
                    "number": trial.number,
                    "values": trial.params,
                    "score": trial.value,
                    "seeds": list(self.seeds.get(trial.number, ())),
                    "note": _note(trial),
                }
                for trial in self.trials
            ],
        }


def search(
    plan: Plan,
    ranges: Mapping[str, Any],
    trials: int,
    seeds: int,
    storage: str | None,
    timeout: float | None,
    tell: Callable[[str], None],
) -> Tuning:
    """Carry out the trials that a study still lacks, and choose the best plan.

    Raises:
        PlanError: numbers out of range, unknown names, ranges that the plan cannot have, a storage that cannot be
            opened.
        CorpusError, OSError: a file that cannot be read.
    """
    if trials < 1 or seeds < 0 or (timeout is not None and timeout <= 0):
        raise PlanError(
            f"found {trials} trials, {seeds} seeds and timeout={timeout}, expected at least 1, at least 0, and seconds"
        )
    check_names(plan, ranges)
    sources = [*map(opened, plan.named)]
    resolved = _resolved(plan, sources, ranges, tell)
    trainings = _Trainings(Space.of(resolved, ranges), sources)
    if plan.dev is None:
        tell(f"no development data: the score of a trial is the mean of {FOLDS} folds of TRAIN")
    with _opened(trainings.space, storage) as study:
        if done := len(study.get_trials(deepcopy=False, states=_BEGUN)):
            tell(f"{done} of {trials} trials are in the storage already")
        if done < trials:
            study.optimize(
                lambda trial: trainings.objective(study, trial),
                n_trials=trials - done,
                timeout=timeout,
                catch=_UnusableValuesError,
                callbacks=[
                    MaxTrialsCallback(trials, states=_BEGUN),
                    lambda _, trial: tell(_line(trial, len(study.get_trials(deepcopy=False, states=_BEGUN)), trials)),
                ],
            )
        return _chosen(study, trainings, seeds, tell)


def _resolved(
    plan: Plan, sources: Sequence[SourceFile], searched: Iterable[str], tell: Callable[[str], None]
) -> ResolvedPlan:
    """Return a plan with all its choices made, by a race of methods if there is one to make.

    Where methods or sources are searched there is no race: a plain model that won would leave no sources.
    """
    job = job_of(plan, Run(tell=tell), sources)
    if plan.dev is None and sum(map(len, job.data.targets)) < FOLDS:
        raise PlanError(f"found no development data, expected them, or at least {FOLDS} sentences of TRAIN")
    if any(name.split(".")[0] in ("method", "sources") for name in searched):
        return job.plan
    return decided(replace(job, train=train_step)).plan


@contextmanager
def _opened(space: Space, storage: str | None) -> Iterator[optuna.Study]:
    """Open the study of a search: in memory, in a file (SQLite), or in the database of a URL."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    text = json.dumps([space.plan.to_json(), space.to_json()], sort_keys=True)
    how: dict[str, Any] = {
        "study_name": f"tagweave-{hashlib.sha256(text.encode()).hexdigest()[:16]}",
        "direction": "maximize",
        "pruner": MedianPruner(n_startup_trials=_STARTUP, n_warmup_steps=_STEPS + _FIRST),
        "load_if_exists": True,
    }
    if storage is None:
        yield _with_plan(optuna.create_study(**how), space)
        return
    scheme, separator, address = storage.partition("://")
    url = storage if separator else f"sqlite:///{storage}"
    if scheme == "postgresql":
        url = f"postgresql+psycopg://{address}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        try:
            database = _database(url)
            study = optuna.create_study(storage=database, **how)
            fail_stale_trials(study)
        except (SQLAlchemyError, StorageInternalError, ImportError, RuntimeError, ValueError) as error:
            reason = str(getattr(error, "orig", None) or error.__cause__ or error).strip().split("\n")[0]
            shown = f"{scheme}://..." if separator else storage  # a URL may have a password
            expected = "a file, or the URL of a database that can be reached"
            raise PlanError(
                f"found the storage {shown}, which cannot be opened ({reason}), expected {expected}"
            ) from error
    try:
        yield _with_plan(study, space)
    finally:
        database.remove_session()
        database.engine.dispose()


def _database(url: str, tries: int = 10) -> RDBStorage:
    try:
        retry = RetryHeartbeatStaleTrialCallback()
        return RDBStorage(url, heartbeat_interval=_HEARTBEAT, heartbeat_stale_trial_callback=retry)
    except DBAPIError as error:  # another process may make the tables at the same time
        if tries == 1 or not (isinstance(error, IntegrityError) or "already exists" in str(error)):
            raise
    time.sleep(1)
    return _database(url, tries - 1)


def _with_plan(study: optuna.Study, space: Space) -> optuna.Study:
    """Put the plan itself first, unless it is a trial of the study, which may still run elsewhere."""
    if not _plan_trials(study):
        study.enqueue_trial(space.plan_values(), user_attrs={_PLAN: True})
    return study


def _plan_trials(study: optuna.Study) -> list[int]:
    """Return the numbers of the trials of the plan itself that were not interrupted."""
    trials = study.get_trials(deepcopy=False)
    return [trial.number for trial in trials if _PLAN in trial.user_attrs and trial.state != TrialState.FAIL]


@dataclass(frozen=True)
class _Trainings:
    """Trains by plans of a space, whose files are opened once."""

    space: Space
    sources: Sequence[SourceFile]

    def objective(self, study: optuna.Study, trial: Trial) -> float:
        """Return the score of a trial.

        Raises:
            TrialPruned: its development scores fall behind.
            _UnusableValuesError: its values do not work.
        """
        # by its number: processes that share a storage propose different values
        seed = np.random.SeedSequence([self.space.plan.seed, trial.number]).generate_state(1)
        study.sampler = TPESampler(seed=int(seed[0]))
        if _PLAN in trial.user_attrs:
            if trial.number > min(_plan_trials(study)):  # two processes began the search at once
                raise _UnusableValuesError
            self.space.suggested(trial, self.space.plan_values())  # so that Optuna knows them
            return self.score(self.space.plan)
        plan = self.space.with_values(self.space.suggested(trial, self.space.ranges))
        for earlier in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if earlier.params == trial.params and earlier.value is not None:
                trial.set_user_attr(_REPEATS, earlier.number)
                return earlier.value
        try:
            return self.score(plan, trial)
        except ValueError as error:
            trial.set_user_attr(_PROBLEM, str(error))
            raise _UnusableValuesError from error

    def score(self, plan: Plan, trial: Trial | None = None) -> float:
        """Train by a plan, and return its development score, or the mean of its folds; a trial may be pruned."""
        callback = SILENCE if trial is None else _Reports(trial)
        job = job_of(plan, Run(callback=callback), self.sources)
        jobs = [job] if job.dev else [_without_fold(job, fold) for fold in range(FOLDS)]
        outcomes = [train(job, compare=False).fitted.outcome for job in jobs]
        for outcome in outcomes:
            outcome.check_finished()
        return fmean(outcome.score or 0.0 for outcome in outcomes)

    def plan_of(self, trial: FrozenTrial) -> Plan:
        return self.space.plan if _PLAN in trial.user_attrs else self.space.with_values(trial.params)


class _Reports:
    """Reports development scores to Optuna, whose pruner may end the trial."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._fits = 0

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self._fits += iteration.number == 1
        if iteration.score is not None:
            self._trial.report(iteration.score, self._fits * _STEPS + iteration.number)
            if self._trial.should_prune():
                raise TrialPruned


def _without_fold(job: Job, fold: int) -> Job:
    """Return the job of TRAIN without a fold, whose sentences judge the model: they neither select nor stop it."""

    def without(file: LoadedSource) -> LoadedSource:
        kept = (sentence for at, sentence in enumerate(file.corpus) if at % FOLDS != fold)
        return replace(file, corpus=file.corpus.with_sentences(kept))

    targets, target = job.data.targets, job.data.target
    files = tuple(without(file) if file.guideline == target else file for file in job.data.files)
    dev = targets[0].with_sentences(chain.from_iterable(corpus.sentences[fold::FOLDS] for corpus in targets))
    iterations = job.plan.iterations or job.recipe.trainer().epochs
    schedule = replace(job.run.schedule, iterations=iterations, selects=False)
    return replace(job, data=replace(job.data, files=files), dev=dev, run=replace(job.run, schedule=schedule))


def _chosen(study: optuna.Study, trainings: _Trainings, seeds: int, tell: Callable[[str], None]) -> Tuning:
    """Choose the best plan: by the mean over other seeds, which no trial was chosen by, if there are any.

    The study keeps the scores of other seeds, so that another call does not repeat them.
    """
    states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
    finished = [trial for trial in study.get_trials(states=states) if _is_new(trial)]
    trials = sorted(finished, key=lambda trial: (_PLAN not in trial.user_attrs, trial.number))
    if not trials or trials[0].state != TrialState.COMPLETE:
        raise PlanError("found no score of the plan itself yet, expected that the process that trains by it has ended")
    ranked = sorted((trial for trial in trials if trial.state == TrialState.COMPLETE), key=_rank)
    best = ranked[0]
    by_trial: dict[int, list[float]] = {}
    if seeds and len(ranked) > 1:
        rivals = [trial for trial in ranked if trial is not trials[0]]
        finalists = [trials[0], *rivals[:FINALISTS]]
        tell(f"the plan itself and the best of the trials are trained with other seeds: {seeds} each")
        by_trial = {
            trial.number: [_seed_score(study, trainings, trial, at + 1) for at in range(seeds)] for trial in finalists
        }
        best = max(finalists, key=lambda trial: fmean(by_trial[trial.number]))
    return Tuning(trainings.plan_of(best), best, tuple(trials), by_trial, trainings.space)


def _seed_score(study: optuna.Study, trainings: _Trainings, trial: FrozenTrial, number: int) -> float:
    key = f"trial {trial.number}, seed {number}"
    score: float | None = study.user_attrs.get(key)
    if score is None:
        plan = trainings.plan_of(trial)
        score = trainings.score(replace(plan, seed=plan.seed + number))
        study.set_user_attr(key, score)
    return score


def _is_new(trial: FrozenTrial) -> bool:
    """Return whether a finished trial was neither interrupted nor a repetition."""
    return _REPEATS not in trial.user_attrs and (trial.state != TrialState.FAIL or _PROBLEM in trial.user_attrs)


def _rank(trial: FrozenTrial) -> tuple[bool, float, int]:
    """Sort finished trials first, the best and earliest of them before others."""
    return trial.state != TrialState.COMPLETE, -(trial.value or 0.0), trial.number


def _line(trial: FrozenTrial, done: int, trials: int) -> str:
    """Return a trial in a line."""
    values = ", ".join(f"{name} {_shown(value)}" for name, value in trial.params.items())
    score = "" if trial.value is None else f"score {trial.value:.4f}"
    seconds = "" if trial.duration is None else f"{trial.duration.total_seconds():.1f} s"
    parts = (
        f"trial {trial.number} ({done} of {trials})",
        score,
        seconds,
        _note(trial),
        "" if _PLAN in trial.user_attrs else values,
    )
    return "  ".join(filter(None, parts))


def _note(trial: FrozenTrial) -> str:
    """Return what distinguishes a trial."""
    about = trial.user_attrs
    if _REPEATS in about:
        return f"as trial {about[_REPEATS]}"
    if _PLAN in about:
        return "the plan"
    return f"failed: {about[_PROBLEM]}" if _PROBLEM in about else "pruned" * (trial.state == TrialState.PRUNED)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
