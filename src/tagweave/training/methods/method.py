"""A training method: its name, the structures it supports, its options, and the function that fits a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from tagweave.options import check_ranges

if TYPE_CHECKING:
    from tagweave.training.job import Job


@dataclass(frozen=True)
class Options:
    """The options of a method; a method with options has a class of its own."""

    def __post_init__(self) -> None:
        check_ranges(self)

    def chosen(self) -> dict[str, Any]:
        """The options that are not as by default."""
        usual = asdict(type(self)())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    def check_files(self) -> None:
        """Raise if a file that an option names cannot be read: before minutes of loading corpora."""

    def for_task(self, task: str) -> Self:
        """The options with defaults that depend on the task filled in."""
        return self

    @property
    def why_incomparable(self) -> str:
        """Why a model with these options is not compared with a plain one; "" if it is."""
        return ""

    def identity(self) -> dict[str, Any]:
        """The options that influence which weights an iteration reaches."""
        return asdict(self)


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
    several: bool | None = True  # whether it needs corpora of several guidelines; `None`: it takes one or several
    compares: bool = False  # whether its steps are compared with plain models one by one
    of_two: bool = False  # whether it takes exactly two guidelines
    needs_dev: bool = False  # whether it needs development data
