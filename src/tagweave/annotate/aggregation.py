"""From the answers of several annotators to one: agreed, dropped, or not decided yet (li-2015, section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from tagweave.annotate.settings import Rule
from tagweave.annotate.task import CANNOT_TELL, Answer


class Status(StrEnum):
    """How far a task is."""

    OPEN = "open"
    AGREED = "agreed"
    DROPPED = "dropped"
    ADJUDICATED = "adjudicated"
    """A curator has decided."""


class Outcome(NamedTuple):
    """What answers amount to.

    Attributes:
        status: `OPEN` while somebody who is wanted has not answered.
        answer: what is agreed on, else `None`.
        wanted: how many annotators there are to be.
    """

    status: Status
    answer: Answer | None
    wanted: int


def aggregate(answers: Sequence[Answer | None], rule: Rule) -> Outcome:
    """The outcome of a task.

    The first annotators who are asked agree where all say the same. Where they differ, more are asked, and it takes a
    majority of all of them. Agreement that nobody can tell drops a task.

    Args:
        answers: by slot; `None` and what is missing at the end have not been given yet.
        rule: how many annotators, and when they agree.
    """
    given = [*answers, *[None] * rule.first]
    first, everybody = given[: rule.first], rule.first + rule.more
    if None in first:
        return Outcome(Status.OPEN, None, rule.first)
    if len(set(first)) == 1:
        return _settled(first[0], rule.first)
    if None in [*answers, *[None] * everybody][:everybody]:
        return Outcome(Status.OPEN, None, everybody)
    answer, votes = Counter(answers[:everybody]).most_common(1)[0]
    return _settled(answer if votes >= rule.majority else None, everybody)


def _settled(answer: Answer | None, wanted: int) -> Outcome:
    if answer is None or answer == CANNOT_TELL:
        return Outcome(Status.DROPPED, None, wanted)
    return Outcome(Status.AGREED, answer, wanted)
