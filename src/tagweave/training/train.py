"""From a job to a model that records how it was made.

Compares a model that learned from sources with a plain one of TRAIN alone: nobody gets a worse model unaware.

The checkpoint files beside a model in training: finding and removing them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.files import remove_left
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.plan_json import with_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.training.job import Job

PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


class Kept(NamedTuple):
    """The selected model, the job that made it, and the development scores of all candidates."""

    job: Job
    fitted: Any
    scores: dict[str, float]


def asked_for(job: Job) -> Kept:
    """The model of a job, compared with none. Raises as its method."""
    METHODS[job.method].check(job)
    return Kept(job, METHODS[job.method].fit(job), {})


def better(job: Job) -> Kept:
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


def _alone(job: Job) -> Job:
    """The job that trains a plain model of the target corpora."""
    target = tuple(replace(each, sample=None) for each in job.plan.target)
    plan = replace(job.plan, target=target, sources=(), method=SINGLE, options=METHODS[SINGLE].options())
    return replace(job, plan=plan, data=job.data.alone(SINGLE), run=job.run.part(PLAIN), balances=False)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoint of a run and those of its parts.

    Attributes:
        whole: the file of the last part; the others have its name with an extension.
    """

    whole: Path

    def found(self) -> list[Path]:
        """The checkpoints that exist."""
        ends, numbered = (".start", ".mapping", ".source", ".plain"), (".step-", ".source-", ".target-")
        files = sorted(self.whole.parent.glob(f"{escape(self.whole.name)}*"))
        return [file for file in files if file == self.whole or file.suffix in ends or file.suffix.startswith(numbered)]

    def remove(self) -> None:
        """Remove the checkpoints."""
        self.remove_left()
        for file in self.found():
            file.unlink()

    def remove_left(self) -> None:
        """Remove what a killed run has left half written."""
        remove_left(self.whole.parent, f"{escape(self.whole.name)}*")


@dataclass(frozen=True)
class Training:
    """The result of a job.

    Attributes:
        kept: the selected model and the scores of its alternatives.
        seconds: how long training took.
    """

    kept: Kept
    seconds: float

    @property
    def outcome(self) -> Any:
        """The outcome of the training of the model."""
        return self.kept.fitted.outcome

    @property
    def model(self) -> Any:
        """The model, without the record of its making."""
        return self.kept.fitted.model

    def about(self) -> dict[str, Any]:
        """Return how the model was made: recipe, plan and scores. Equal trainings have equal records, on any day and
        in any folder: files of the plan have names and digests alone."""
        job, fitted = self.kept.job, self.kept.fitted
        return {
            **fitted.model.about,
            "plan": with_names(job.plan.to_json()),
            "layers": _layers(job.data.corpora),
            **job.about(fitted),
            **({"dev_scores": self.kept.scores} if self.kept.scores else {}),
        }

    def save(self, path: Path) -> None:
        """Write the model with the record of its making, and report its score.

        Raises:
            OSError: it cannot be written.
        """
        self.kept.job.save(self.kept.fitted, self.about(), path)


def _layers(corpora: Sequence[Corpus]) -> dict[str, list[str]]:
    """Return the layers of files that each guideline was learned from, without those that the files do not name."""
    found: dict[str, list[str]] = {}
    for corpus in corpora:
        names = found.setdefault(corpus.guideline, [])
        if corpus.layer not in ("", TAG, SEGMENTATION, *names):
            names.append(corpus.layer)
    return found


def train(job: Job, compare: bool = True) -> Training:
    """Carry out a job.

    Args:
        job: what to train.
        compare: whether a model that learned from sources is compared with one of TRAIN alone.

    Raises:
        CorpusError, TrainingError, MappingError, PlanError: as its method.
        KeyboardInterrupt: the user stopped training before the model itself was begun.
    """
    begin = time.perf_counter()
    kept = better(job) if compare else asked_for(job)
    return Training(kept, time.perf_counter() - begin)
