"""The method `auto`: methods race on a part of the corpora (`training/race.py`), and the winner trains on all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.structures import CHAIN, TREE
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.training.fit.problem import Fitted


def _fit(job: Job) -> Fitted:
    """Carry out the job as one whose race decides."""
    return job.train(job).fitted


METHODS = (
    Method(
        "auto",
        "the method that is best on a part of the corpora",
        (CHAIN, TREE),
        Options,
        _fit,
        check=lambda job: None,
        several=None,
    ),
)
