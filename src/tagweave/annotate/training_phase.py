"""The training phase: simulated tasks with known answers, until an annotator is good enough (li-2015, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from tagweave.annotate.schema import judgements, tasks
from tagweave.annotate.settings import Admission
from tagweave.annotate.task import Purpose


def is_passed(right: Sequence[bool], admission: Admission) -> bool:
    """Whether enough of the last answers are right; `right` has all of them, by time."""
    last = right[-admission.questions :]
    return len(last) == admission.questions and sum(last) >= admission.accuracy * admission.questions


def results(connection: Connection, annotator: int) -> list[bool]:
    """Whether each of an annotator's answers to simulated tasks was right, by time."""
    mine = (judgements.c.annotator == annotator) & (tasks.c.purpose == Purpose.TRAINING)
    is_right = judgements.c.kind == tasks.c.gold_kind, judgements.c.label.is_not_distinct_from(tasks.c.gold_label)
    chosen = select(*is_right).join_from(judgements, tasks).where(mine).order_by(judgements.c.id)
    return [all(row) for row in connection.execute(chosen)]
