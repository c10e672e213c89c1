"""What a training method is: a name, the structures that it serves, its options, and how it makes a model of a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagweave.training.job import Job
    from tagweave.training.options import Options

CHAIN, TREE = "chain", "tree"
"""The structures."""


def _check(job: Job[Any]) -> None:
    job.check()


@dataclass(frozen=True)
class Method:
    """A way to make a model of corpora of one guideline, or of several.

    Attributes:
        name: as plans have it.
        summary: what it does, in a few words.
        structures: which it serves.
        options: their class.
        fit: from a job to the model, with its `outcome`; it imports what it needs, so that a list of methods is cheap.
        check: raises, before anything is trained, where some step could not learn from the corpora.
        samples: whether an iteration may visit a part of each corpus.
        balances: whether it does unless the plan says otherwise, so that a large source does not outvote the target.
        has_lexicon: whether its features may look at the words of a lexicon.
        several: whether it needs corpora of several guidelines.
        of_two: whether it takes two of them alone.
        needs_dev: whether it needs development data.
    """

    name: str
    summary: str
    structures: tuple[str, ...]
    options: type[Options]
    fit: Callable[[Job[Any]], Any]
    check: Callable[[Job[Any]], None] = _check
    samples: bool = False
    balances: bool = False
    has_lexicon: bool = False
    several: bool = True
    of_two: bool = False
    needs_dev: bool = False
