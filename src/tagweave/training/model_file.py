"""The file of a model that is trained: the record of its making, and checkpoints beside it until it is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from glob import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from tagweave.corpus.files import remove_left
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.exchange.tokenization import Tokenization
from tagweave.labels import SPANS
from tagweave.learning.run import Callback, Run, Schedule
from tagweave.models.storage import save_model
from tagweave.structures import TREE
from tagweave.training.job import Job, Training
from tagweave.training.plan import Plan, with_names
from tagweave.training.resolve import job_of
from tagweave.training.updating import after_update, types_of_spans


@contextmanager
def job_with_checkpoints(
    plan: Plan,
    path: str | PathLike[str],
    resume: bool,
    callbacks: AbstractContextManager[Callback],
    tell: Callable[[str], None],
    minutes: float | None = None,
) -> Iterator[Job]:
    """Open the job of a plan, as `tagweave train` carries it out: with checkpoints beside the file of the model.

    An interrupt that leaves a checkpoint ends the block without an error.
    """
    checkpoint = Path(f"{fspath(path)}.checkpoint")
    remove_left(checkpoint.parent, f"{escape(checkpoint.name)}*")
    run = Run(Schedule(checkpoint=checkpoint, resume=resume), tell=tell).limited(minutes)
    try:
        job = job_of(plan, run)
        if (old := _checkpoints(path)) and not resume:
            tell(f"{old[0]} of an earlier run is overwritten; `resume` would go on from it")
        with callbacks as callback:
            yield replace(job, run=replace(job.run, callback=callback))
    except KeyboardInterrupt:
        if not _checkpoints(path):
            raise
        tell("interrupted before the model itself: the same command with `resume` goes on")


def save_trained(training: Training, path: str | PathLike[str]) -> bool:
    """Save a model and remove its checkpoints, unless it was interrupted. Return whether training finished."""
    outcome = training.fitted.outcome
    tell = training.job.run.tell
    if outcome.iterations:
        save_training(training, Path(path))
    if outcome.diverged:
        tell("training diverged: the model has the best weights before that; a smaller learning rate may help")
    if not outcome.interrupted:
        checkpoint = Path(f"{fspath(path)}.checkpoint")
        remove_left(checkpoint.parent, f"{escape(checkpoint.name)}*")
        for file in _checkpoints(path):
            file.unlink()
    elif not outcome.iterations:
        tell("interrupted in the first iteration: no model is written")
    elif _checkpoints(path):
        tell("interrupted: the same command with `resume` goes on")
    return not outcome.interrupted


def _checkpoints(path: str | PathLike[str]) -> list[Path]:
    """Find the checkpoints of a training and of its parts, whose names have a further extension."""
    suffixes = ".start", ".mapping", ".source", ".plain", ".segment", ".tag"
    numbered = ".layer-", ".step-", ".source-", ".target-"
    checkpoint = Path(f"{fspath(path)}.checkpoint")
    files = sorted(checkpoint.parent.glob(f"{escape(checkpoint.name)}*"))
    return [file for file in files if file == checkpoint or file.suffix in suffixes or file.suffix.startswith(numbered)]


def recorded(training: Training) -> Any:
    """Return the model of a training with the record of its making."""
    return replace(training.fitted.model, about=record(training))


def record(training: Training) -> dict[str, Any]:
    """Return how the model was made: recipe, plan and scores.

    Equal trainings have equal records, on any day and in any folder: files of the plan have names and digests alone.
    """
    job, model = training.job, training.fitted.model
    layers: dict[str, list[str]] = {}  # by guideline, without those that the files do not name
    for corpus in job.data.corpora:
        names = layers.setdefault(corpus.guideline, [])
        if corpus.layer not in ("", TAG, SEGMENTATION, *names):
            names.append(corpus.layer)
    plan = replace(job.plan, average_seeds=job.average_seeds)
    before = {} if job.start is None else job.start.about
    return {
        **model.about,
        **(
            {"plan": with_names(plan.to_json())}
            if job.start is None
            else after_update(plan, before, _types_before(job, model))
        ),
        "layers": {**before.get("layers", {}), **layers},
        **_tokens(job),
        **({} if job.recipe.structure == TREE else {"weights": model.weights_by_view}),
        **({"dev_scores": training.scores} if training.scores else {}),
        **({"race": dict(job.race)} if job.race else {}),
    }


def _types_before(job: Job, model: Any) -> list[str] | None:
    """Return the types of spans of the model that an update began with, if there are others now."""
    if job.plan.task != SPANS or set(model.space.names) == set(job.start.space.names):
        return None
    return list(types_of_spans(job.start))


def _tokens(job: Job) -> dict[str, Any]:
    """Return how the text of TRAIN was cut into words."""
    targets = job.data.targets
    if any(corpus.unit == "character" for corpus in targets) or job.plan.task in ("segment", "segtag"):
        return {}
    forms = (sentence.forms for corpus in targets for sentence in corpus)
    return {"tokens": Tokenization.of_forms(forms).to_json()}


def save_training(training: Training, path: Path) -> None:
    """Write the model with the record of its making, and tell its score."""
    fitted, job = training.fitted, training.job
    for note in fitted.notes:
        job.run.tell(note)
    save_model(recorded(training), path)
    name = "dev UAS" if job.recipe.structure == TREE else "dev"
    score = "" if fitted.outcome.score is None else f", {name} {fitted.outcome.score:.4f}"
    job.run.tell(f"{path}: {fitted.outcome.iterations} iterations{score}")
