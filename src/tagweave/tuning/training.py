"""One training by a plan, which may stop early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tagweave.learning.run import Iteration, Run
from tagweave.training.job import train
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.resolve import Corpora, job_of, read

STEPS = 1_000
"""The step of iteration N of the fit F of a training, both from 1, is F * STEPS + N."""
Curve = Mapping[int, float]
"""Development scores by step."""


@dataclass(frozen=True)
class PlanResult:
    """How a training went. `score`: the best development score; `None` without development data."""

    score: float | None
    curve: Curve
    seconds: float
    cancelled: bool = False


def carry_out(plan: TrainingPlan, stop: Callable[[Curve], bool] = lambda curve: False) -> PlanResult:
    """Train by a plan."""
    judge = _Judge(stop)
    corpora = _read(plan.task, plan.target, plan.sources, plan.dev)
    job = job_of(plan, Run(callback=judge, cancel=judge.is_stopped), corpora)
    try:
        training = train(job, compare=False)
    except KeyboardInterrupt:  # cancelled between two fits
        if not judge.stopped:
            raise
        return PlanResult(None, judge.curve, 0.0, True)
    outcome = training.fitted.outcome
    if outcome.interrupted and not judge.stopped:
        raise KeyboardInterrupt
    return PlanResult(outcome.score, judge.curve, training.seconds, judge.stopped)


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
    """Return the corpora of a plan: the next training usually has the same."""
    return read(TrainingPlan(tuple(target), tuple(sources), dev, task))
