"""Resolves plans, and trains by them: from a plan to the file of a model, with checkpoints beside it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from tagweave.streams.notes import Tell, say

if TYPE_CHECKING:
    from tagweave.learning.callback import Callback
    from tagweave.training.plan import TrainingPlan


def resolve(plan: TrainingPlan, tell: Tell = say) -> TrainingPlan:
    """The plan with everything filled in: digests of its files, the method, and the values of its options.

    Raises:
        PlanError: values that do not exist or do not go together.
        CorpusError, OSError: a corpus that cannot be read.
    """
    from tagweave.learning.run import Run
    from tagweave.training.resolve import job_of

    return job_of(plan, Run(tell=tell)).plan


def train_plan(
    plan: TrainingPlan,
    path: str | PathLike[str],
    resume: bool,
    callbacks: AbstractContextManager[Callback],
    tell: Tell = say,
    cluster: str | None = None,
    workers: int | None = None,
    checkpoint: bool = True,
) -> bool:
    """Train by a plan and save the model, as `tagweave train` does, with checkpoints until training is done.

    Args:
        plan: what to train.
        path: the path of the model; checkpoints are saved beside it.
        resume: continue from a checkpoint, if there is one.
        callbacks: a context manager that opens the callback.
        tell: receives notes.
        cluster: the address of the cluster on whose workers the training sentences stay; `None`: train here.
        workers: how many workers; by default one for every processor.
        checkpoint: whether checkpoints are saved.

    Returns:
        whether training finished; if not, the user interrupted it.

    Raises:
        PlanError, CorpusError, OSError: as `resolve`.
        KeyboardInterrupt: the user interrupted training before the first checkpoint.
    """
    from tagweave.learning.run import Run, Schedule
    from tagweave.training.checkpoint_files import Checkpoints
    from tagweave.training.sharded_job import opened_job
    from tagweave.training.train import train

    checkpoints = Checkpoints(Path(f"{fspath(path)}.checkpoint"))
    checkpoints.remove_left()
    run = Run(Schedule(checkpoint=checkpoints.whole if checkpoint else None, resume=resume), tell=tell)
    try:
        with opened_job(plan, run, cluster, workers) as job:
            if (old := checkpoints.found()) and not resume:
                tell(f"{old[0]} of an earlier run is overwritten; `resume` would go on from it")
            with callbacks as callback:
                training = train(replace(job, run=replace(job.run, callback=callback)))
    except KeyboardInterrupt:
        if not checkpoints.found():
            raise
        tell("interrupted before the model itself: the same command with `resume` goes on")
        return False
    outcome = training.outcome
    if outcome.iterations:
        training.save(Path(path))
    if outcome.diverged:
        tell("training diverged: the model has the best weights before that; a smaller learning rate may help")
    if not outcome.interrupted:
        checkpoints.remove()
    elif not outcome.iterations:
        tell("interrupted in the first iteration: no model is written")
    elif checkpoints.found():
        tell("interrupted: the same command with `resume` goes on")
    return not outcome.interrupted
