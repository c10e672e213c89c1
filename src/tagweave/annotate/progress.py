"""How much somebody has done: sums over what they said, brought up to date by what they have said since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, and_, bindparam, case, func, select

from tagweave.annotate.schema import judgements, tasks
from tagweave.annotate.task import Purpose


class Progress(NamedTuple):
    """How much somebody has done.

    Attributes:
        answers: that stand.
        seconds: spent on judgements, from showing a task to its answer.
        gold, right: answers to planted gold, and how many of those were right.
        judgement: the last one that is counted; 0: none.
    """

    answers: int = 0
    seconds: float = 0.0
    gold: int = 0
    right: int = 0
    judgement: int = 0


_BEFORE = judgements.alias("before")
_IS_GOLD = tasks.c.purpose == Purpose.GOLD


def _change(value: Callable[[FromClause], Any]) -> Any:
    """What judgements add to a sum over all that stand: each its value, less that of the one whose place it takes."""
    new, old = (case((~row.c.withdrawn, value(row)), else_=0) for row in (judgements, _BEFORE))
    return func.coalesce(func.sum(new - old), 0)


def _is_right(row: FromClause) -> Any:
    same_label = row.c.label.is_not_distinct_from(tasks.c.gold_label)
    return case((and_(_IS_GOLD, row.c.kind == tasks.c.gold_kind, same_label), 1), else_=0)


_SINCE = (
    select(
        _change(lambda _row: 1),
        _change(lambda row: row.c.ended - row.c.started),
        _change(lambda _row: case((_IS_GOLD, 1), else_=0)),
        _change(_is_right),
        func.max(judgements.c.id),
    )
    .select_from(
        judgements.join(tasks).outerjoin(
            _BEFORE,
            and_(
                _BEFORE.c.task == judgements.c.task,
                _BEFORE.c.annotator == judgements.c.annotator,
                _BEFORE.c.revision == judgements.c.revision - 1,
            ),
        )
    )
    .where(judgements.c.annotator == bindparam("annotator"), judgements.c.id > bindparam("after"))
)


def read(connection: Connection, annotator: int, known: Progress) -> Progress:
    """What was `known`, and what has come since: a page that counted everything anew would get slower day by day.

    The judgements of one annotator are numbered in the order in which they are committed, since each waits for the
    annotator's row.
    """
    *changes, last = connection.execute(_SINCE, {"annotator": annotator, "after": known.judgement}).one()
    if last is None:
        return known
    answers, seconds, gold, right = (before + change for before, change in zip(known, changes, strict=False))
    return Progress(answers, seconds, gold, right, last)
