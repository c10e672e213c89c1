"""Training by a plan as a task: plain data in, plain data out, on any machine.

The files of the plan travel with the task (`SharedFile`), and their digests are checked, so a worker that does not see
their paths trains on copies. The model names the paths of the plan, and has the same weights as one of
`tagweave train`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus.named import located
from tagweave.learning.run import Iteration, Run
from tagweave.training.job import train
from tagweave.training.plan import file_places, read_plan
from tagweave.training.resolve import Corpora, job_of, read

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor
    from tagweave.training.job import Training
    from tagweave.training.plan import CorpusReference, TrainingPlan

STEPS = 1_000
"""The step of iteration N of the fit F of a training, both from 1, is F * STEPS + N."""
Curve = Mapping[int, float]
"""Development scores by step."""


@dataclass(frozen=True)
class PlanTask:
    """What to train."""

    plan: Mapping[str, Any]
    files: Mapping[str, SharedFile]
    compare: bool = True
    with_model: bool = False


@dataclass(frozen=True)
class PlanResult:
    """How a training went. `score`: the best development score; `None` without development data."""

    score: float | None
    curve: Curve
    iterations: int
    seconds: float
    cancelled: bool = False
    model: bytes | None = None


def plan_task(plan: TrainingPlan, executor: Executor, compare: bool = True, with_model: bool = False) -> PlanTask:
    """Return the task of a plan."""
    values = plan.to_json()
    paths = {path: located(path) for place, key in file_places(values) if (path := place[key])}
    files = {path: executor.share(SharedFile.of(file)) for path, file in paths.items() if Path(file).exists()}
    return PlanTask(values, files, compare, with_model)


def carry_out(task: PlanTask, stop: Callable[[Curve], bool] = lambda curve: False) -> PlanResult:
    """Train by the plan of a task."""
    judge = _Judge(stop)
    original = read_plan(task.plan)
    values = copy.deepcopy(dict(task.plan))
    for place, key in file_places(values):
        if file := task.files.get(place[key]):
            place[key] = file.local()  # on this machine
    plan = read_plan(values)
    corpora = _read(plan.task, plan.target, plan.sources, plan.dev)
    job = job_of(plan, Run(callback=judge, cancel=judge.is_stopped), corpora)
    try:
        training = train(job, task.compare)
    except KeyboardInterrupt:  # cancelled between two fits
        if not judge.stopped:
            raise
        return PlanResult(None, judge.curve, 0, 0.0, True)
    outcome = training.fitted.outcome
    if outcome.interrupted and not judge.stopped:
        raise KeyboardInterrupt
    model = _stored(training, original) if task.with_model else None
    return PlanResult(outcome.score, judge.curve, outcome.iterations, training.seconds, judge.stopped, model)


@dataclass
class _Judge:
    """Collects the curve of a training, and may stop it."""

    stop: Callable[[Curve], bool]
    curve: dict[int, float] = field(default_factory=dict)
    fits: int = 0
    stopped: bool = False

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.fits += iteration.number == 1
        if iteration.score is not None:
            self.curve[self.fits * STEPS + iteration.number] = iteration.score
            self.stopped = self.stopped or self.stop(self.curve)

    def is_stopped(self) -> bool:
        return self.stopped


@lru_cache(maxsize=1)
def _read(
    task: str, target: Sequence[CorpusReference], sources: Sequence[CorpusReference], dev: CorpusReference | None
) -> Corpora:
    """Return the corpora of a plan: the next task of a worker usually has the same."""
    from tagweave.training.plan import TrainingPlan

    return read(TrainingPlan(tuple(target), tuple(sources), dev, task))


def _stored(training: Training, original: TrainingPlan) -> bytes:
    """Return the file of the model, which names the paths of the original plan."""
    job = training.job
    paths = dict(zip(_paths(job.plan), _paths(original), strict=False))
    values = job.plan.to_json()
    for place, key in file_places(values):
        place[key] = paths.get(place[key], place[key])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        replace(training, job=replace(job, plan=read_plan(values))).save(path)
        return path.read_bytes()


def _paths(plan: TrainingPlan) -> list[str]:
    return [place[key] for place, key in file_places(plan.to_json())]
