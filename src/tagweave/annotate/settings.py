"""The settings of double annotation; the defaults are those of li-2015, section 4, where the paper gives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tagweave.annotate.task import AnnotationTask, Asks, Purpose

if TYPE_CHECKING:
    from tagweave.annotate.posterior import PosteriorRule


@dataclass(frozen=True, slots=True)
class Rule:
    """When a task is agreed on.

    Attributes:
        first: number of annotators asked first; the task is agreed on if they give the same answer.
        more: number of annotators asked if they differ.
        majority: number of equal answers among all of them that is agreement; with fewer the task is dropped.

    Raises:
        ValueError: a majority that can never be reached, or that two answers could have at once.
    """

    first: int = 2
    more: int = 2
    majority: int = 3

    def __post_init__(self) -> None:
        everybody = self.first + self.more
        if self.first < 1 or self.more < 0 or not everybody // 2 < self.majority <= everybody:
            found = f"{self.first} annotators, {self.more} more and a majority of {self.majority}"
            raise ValueError(f"found {found}, expected 1 or more, 0 or more, and more than half of all")


ONCE = Rule(1, 0, 1)
"""One annotator decides, as in a concordance."""


@dataclass(frozen=True, slots=True)
class Admission:
    """An annotator is admitted once a share `accuracy` of their last `questions` simulated tasks was right."""

    questions: int = 50
    accuracy: float = 0.9


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a store.

    Attributes:
        rule: how many annotators, and when they agree.
        posterior: when tasks of labels are agreed on instead, if the posterior decides.
        admission: the training phase; `None` admits everybody at once.
        lease: seconds after which a task that was handed out and not answered may go to somebody else.
        window: number of most uncertain tasks from which one is drawn at random, so that pairs of annotators are
            random.
        gold_share: share of planted gold among the tasks handed out, while there is any.
    """

    rule: Rule = field(default_factory=Rule)
    posterior: PosteriorRule | None = None
    admission: Admission | None = None
    lease: float = 900.0
    window: int = 32
    gold_share: float = 0.05

    def posterior_of(self, task: AnnotationTask) -> PosteriorRule | None:
        """The rule of a task whose posterior decides: a real one that asks for a label."""
        return self.posterior if task.purpose is Purpose.REAL and task.asks is Asks.LABEL else None
