"""Compares a model that learned from sources with a plain one of TRAIN alone: nobody gets a worse model unaware."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tagweave.training.methods import METHODS, SINGLE

if TYPE_CHECKING:
    from tagweave.training.job import Job

PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


class Kept(NamedTuple):
    """The selected model, the job that made it, and the development scores of all candidates."""

    job: Job[Any]
    fitted: Any
    scores: dict[str, float]


def asked_for(job: Job[Any]) -> Kept:
    """The model of a job, compared with none. Raises as its method."""
    METHODS[job.method].check(job)
    return Kept(job, METHODS[job.method].fit(job), {})


def better(job: Job[Any]) -> Kept:
    """The model of a job or, if that scores higher on the development data, one of the target corpora alone.

    A method that the user named is not overruled, but a warning says that it did worse. The plain model is trained
    first and has its own checkpoint.

    Raises:
        KeyboardInterrupt: the user stopped training before the model itself was begun.
    """
    tell, data = job.run.tell, job.data
    METHODS[job.method].check(job)
    if why := job.incomparable:
        fitted = METHODS[job.method].fit(job)
        if data.has_sources:
            tell(f"{why}: nothing tells whether the sources made the model better or worse than one of TRAIN alone")
        return Kept(job, fitted, {})
    alone = _alone(job)
    tell(f"first a plain model of {data.target}, of TRAIN alone, to compare with")
    plain = METHODS[alone.method].fit(alone)
    plain.outcome.check_finished()
    fitted = METHODS[job.method].fit(job.beside(plain))
    if fitted.outcome.score is None:  # interrupted in the first iteration
        return Kept(job, fitted, {})
    method = "with the sources" if job.method == alone.method else job.method
    scores = {PLAIN: plain.outcome.score, method: fitted.outcome.score}
    tell(f"on the development data: {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if fitted.outcome.score >= plain.outcome.score:
        return Kept(job, fitted, scores)
    if data.is_asked_for:
        tell(f"warning: the sources made the model worse; it is kept because of `method={job.method}`")
        return Kept(job, fitted, scores)
    tell(f"the plain model is kept: the sources made it worse (`method={job.method}` would keep the other)")
    outcome = replace(plain.outcome, interrupted=fitted.outcome.interrupted)
    return Kept(alone, replace(plain, outcome=outcome), scores)


def _alone(job: Job[Any]) -> Job[Any]:
    """The job that trains a plain model of the target corpora."""
    target = tuple(replace(each, sample=None) for each in job.plan.target)
    plan = replace(job.plan, target=target, sources=(), method=SINGLE, options=METHODS[SINGLE].options())
    return replace(job, plan=plan, data=job.data.alone(SINGLE), run=job.run.part(PLAIN), balances=False)
