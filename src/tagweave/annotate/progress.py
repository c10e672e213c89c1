"""How much an annotator has done: sums over their judgements, updated by the judgements since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, and_, bindparam, case, func, select

from tagweave.annotate.schema import judgements, tasks
from tagweave.annotate.task import Purpose


class Progress(NamedTuple):
    """How much an annotator has done.

    Attributes:
        answers: number of standing answers.
        seconds: time spent on judgements, from showing a task to its answer.
        gold, right: answers to planted gold, and how many of them are right.
        judgement: number of the last judgement counted; 0: none.
    """

    answers: int = 0
    seconds: float = 0.0
    gold: int = 0
    right: int = 0
    judgement: int = 0


_BEFORE = judgements.alias("before")
_IS_GOLD = tasks.c.purpose == Purpose.GOLD


def _change(value: Callable[[FromClause], Any]) -> Any:
    """What judgements add to a sum over standing ones: the value of each, minus that of the judgement it replaces."""
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
    """The progress `known` so far, plus the judgements since. Counting all of them on each page would get ever slower.

    The judgements of one annotator are numbered in the order in which they are committed, because each waits for the
    lock on the annotator's row.
    """
    *changes, last = connection.execute(_SINCE, {"annotator": annotator, "after": known.judgement}).one()
    if last is None:
        return known
    answers, seconds, gold, right = (before + change for before, change in zip(known, changes, strict=False))
    return Progress(answers, seconds, gold, right, last)
