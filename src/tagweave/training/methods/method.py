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
    """A way to train a model on corpora of one guideline or of several.

    Attributes:
        name: the name in plans.
        summary: what it does, in a few words.
        structures: the structures it supports.
        options: the class of its options.
        fit: takes a job to the model with its `outcome`; imports what it needs, so that listing methods is cheap.
        check: raises before any training if some step could not learn from the corpora.
        samples: whether an iteration may visit only a part of each corpus.
        balances: whether it samples by default, so that a large source does not outvote the target.
        has_lookups: whether its features may look up words of a lexicon, phrases of a gazetteer or word clusters.
        several: whether it needs corpora of several guidelines.
        of_two: whether it takes exactly two guidelines.
        needs_dev: whether it needs development data.
    """

    name: str
    summary: str
    structures: tuple[str, ...]
    options: type[Options]
    fit: Callable[[Job], Any]
    check: Callable[[Job], None] = _check
    samples: bool = False
    balances: bool = False
    has_lookups: bool = False
    several: bool = True
    of_two: bool = False
    needs_dev: bool = False
