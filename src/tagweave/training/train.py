"""From a plan to a model, which knows how it was made."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tagweave.training.comparison import better

if TYPE_CHECKING:
    from pathlib import Path

    from tagweave.training.comparison import Kept
    from tagweave.training.job import Job


@dataclass(frozen=True)
class Training:
    """What a job came to.

    Attributes:
        kept: the model that is handed over, and what else was tried.
        seconds: how long it took.
    """

    kept: Kept
    seconds: float

    @property
    def outcome(self) -> Any:
        """How the training of the model went."""
        return self.kept.fitted.outcome

    @property
    def model(self) -> Any:
        """The model, without what it tells of its making."""
        return self.kept.fitted.model

    def about(self) -> dict[str, Any]:
        """What the model tells of its making."""
        job, fitted = self.kept.job, self.kept.fitted
        return {
            **fitted.model.about,
            "plan": job.plan.to_json(),
            **job.about(fitted),
            **({"dev_scores": self.kept.scores} if self.kept.scores else {}),
            "seconds": round(self.seconds, 3),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def save(self, path: Path) -> None:
        """Write the model, with what it tells of its making, and tell what it came to.

        Raises:
            OSError: it cannot be written.
        """
        self.kept.job.save(self.kept.fitted, self.about(), path)


def train(job: Job[Any]) -> Training:
    """Carry a job out.

    Raises:
        CorpusError, TrainingError, MappingError, PlanError: as its method.
        KeyboardInterrupt: the user stopped it before the model itself was begun.
    """
    begin = time.perf_counter()
    kept = better(job)
    return Training(kept, time.perf_counter() - begin)
