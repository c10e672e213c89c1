"""A training method: its name, the structures it supports, its options, and the function that fits a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagweave.training.job import Job
    from tagweave.training.options import Options


def _check(job: Job) -> None:
    job.check()


@dataclass(frozen=True)
class Method:
    """A way to train a model on corpora of one guideline or of several."""

    name: str  # the name in plans
    summary: str  # what it does, in a few words
    structures: tuple[str, ...]  # the structures it supports
    options: type[Options]  # the class of its options
    # takes a job to the model with its `outcome`; imports what it needs, so that listing methods is cheap
    fit: Callable[[Job], Any]
    check: Callable[[Job], None] = _check  # raises before any training if some step could not learn from the corpora
    samples: bool = False  # whether an iteration may visit only a part of each corpus
    balances: bool = False  # whether it samples by default, so that a large source does not outvote the target
    # whether its features may look up words of a lexicon, phrases of a gazetteer or word clusters
    has_lookups: bool = False
    several: bool = True  # whether it needs corpora of several guidelines
    of_two: bool = False  # whether it takes exactly two guidelines
    needs_dev: bool = False  # whether it needs development data
