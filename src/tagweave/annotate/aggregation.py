"""Aggregating the answers of several annotators: agreed, dropped, or still open (li-2015, section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from tagweave.annotate.settings import Rule
from tagweave.annotate.task import CANNOT_TELL, Answer


class Status(StrEnum):
    """The status of a task."""

    OPEN = "open"
    AGREED = "agreed"
    DROPPED = "dropped"
    ADJUDICATED = "adjudicated"
    """A curator has decided."""


class Outcome(NamedTuple):
    """The outcome of a task.

    Attributes:
        status: `OPEN` while an annotator who is needed has not answered.
        answer: the answer agreed on, or `None`.
        wanted: how many annotators are needed.
    """

    status: Status
    answer: Answer | None
    wanted: int


def aggregate(answers: Sequence[Answer | None], rule: Rule) -> Outcome:
    """The outcome of a task.

    A task is agreed on if the first annotators give the same answer. If they differ, more are asked, and a majority of
    all of them decides. If they agree that they cannot tell, the task is dropped.

    Args:
        answers: by slot; `None`, or missing at the end, if not given yet.
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
