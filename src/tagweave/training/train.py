"""From a job to a model that records how it was made."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.training.comparison import asked_for, better
from tagweave.training.plan_json import with_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tagweave.corpus.corpus import Corpus
    from tagweave.training.comparison import Kept
    from tagweave.training.job import Job


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


def train(job: Job[Any], compare: bool = True) -> Training:
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
