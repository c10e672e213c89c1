"""Judgements and decisions, read back; adjudication."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, select, update

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError, check
from tagweave.annotate.people import numbered
from tagweave.annotate.questions import ASKED, Asked, asked, candidates_of
from tagweave.annotate.schema import adjudications, annotators, judgements, sentences, tasks
from tagweave.annotate.task import Answer, Asks, Candidate, Kind, Purpose, answer_of


class Judgement(NamedTuple):
    """One answer of one annotator to one task, or its withdrawal.

    Attributes:
        id: number in the store; numbers only grow.
        task: the task and its sentence, as they are now.
        annotator: the name.
        revision: from 0; the last one of a task and annotator stands.
        withdrawn: whether this is an undo, after which no answer stands.
        slot: 0 and 1 are the first two annotators, 2 and 3 those asked because the first two differed; `None` for tasks
            that everybody answers.
        answer: the answer given.
        candidates: as they were shown.
        model: version of the model that the candidates come from.
        started, ended: seconds since 1970, UTC.
    """

    id: int
    task: Asked
    annotator: str
    revision: int
    withdrawn: bool
    slot: int | None
    answer: Answer
    candidates: tuple[Candidate, ...]
    model: int | None
    started: float
    ended: float


class Vote(NamedTuple):
    """A standing answer, as measures of agreement need it."""

    task: int
    annotator: str
    slot: int | None
    answer: Answer


def last(connection: Connection) -> int:
    """The number of the last judgement, 0 if there is none."""
    return int(connection.execute(select(func.coalesce(func.max(judgements.c.id), 0))).scalar_one())


def read(connection: Connection, after: int, limit: int) -> list[Judgement]:
    """Judgements with a number above `after`, by number, at most `limit`, including withdrawn ones."""
    return _judgements(connection, judgements.c.id > after, limit)


def of_task(connection: Connection, number: int) -> list[Judgement]:
    """All judgements of a task, by number."""
    return _judgements(connection, judgements.c.task == number, None)


def standing(judged: Iterable[Judgement]) -> list[Judgement]:
    """Of the judgements of one task, ordered by number, the last of each annotator, unless it was withdrawn."""
    last = {each.annotator: each for each in judged}
    return [each for each in last.values() if not each.withdrawn]


def outcomes(connection: Connection, guideline: str) -> list[Asked]:
    """All agreed or adjudicated tasks of a guideline, except those decided as "can't tell", by location and span."""
    is_known = tasks.c.status.in_([Status.AGREED, Status.ADJUDICATED]) & (tasks.c.guideline == guideline)
    order = (sentences.c.path, sentences.c.line, sentences.c.id, tasks.c.start, tasks.c.stop)
    chosen = ASKED.where(is_known, tasks.c.kind != Kind.CANNOT_TELL)
    return [asked(row) for row in connection.execute(chosen.order_by(*order))]


def votes(connection: Connection, purpose: Purpose, asks: Asks) -> list[Vote]:
    """All standing answers to tasks of a purpose that ask for this, by task and slot."""
    chosen = (
        select(tasks.c.id, annotators.c.name, judgements.c.slot, judgements.c.kind, judgements.c.label)
        .select_from(judgements.join(tasks).join(annotators))
        .where(tasks.c.purpose == purpose, tasks.c.asks == asks, _stands())
        .order_by(tasks.c.id, judgements.c.slot, judgements.c.id)
    )
    return [
        Vote(task, name, slot, answer_of(kind, text)) for task, name, slot, kind, text in connection.execute(chosen)
    ]


def adjudicate(connection: Connection, curator: int, number: int, answer: Answer, now: float) -> None:
    """Record a curator's decision on a task, which overrules annotators; the last decision stands.

    Raises:
        RefusedError: not a curator, no such task, or an answer that does not fit it.
    """
    person = numbered(connection, curator)
    if person is None or person.role != "curator":
        raise RefusedError("only a curator decides")
    this = tasks.c.id == number
    chosen = select(tasks, sentences).join_from(tasks, sentences).where(this)
    if (row := connection.execute(chosen.with_for_update(key_share=True, of=tasks)).one_or_none()) is None:
        raise RefusedError("there is no such task")
    task = asked(row).task
    check(connection, task, task.candidates, answer)
    outcome = {"kind": answer.kind, "label": answer.text}
    revision = connection.execute(select(func.count()).where(adjudications.c.task == number)).scalar_one()
    decision = {"task": number, "curator": curator, "revision": revision, "decided": now}
    connection.execute(insert(adjudications).values(**decision, **outcome))
    settled = {"status": Status.ADJUDICATED, "free": 0, "settled": now, **outcome}
    connection.execute(update(tasks).where(this).values(**settled))


def _stands() -> ColumnElement[bool]:
    """Whether a judgement is the last one of its task and annotator, and not an undo."""
    later = judgements.alias()
    same = and_(later.c.task == judgements.c.task, later.c.annotator == judgements.c.annotator)
    is_last = ~select(later.c.id).where(same, later.c.revision > judgements.c.revision).exists()
    return is_last & ~judgements.c.withdrawn


def _judgements(connection: Connection, condition: Any, limit: int | None) -> list[Judgement]:
    chosen = (
        select(judgements, tasks, sentences, annotators.c.name)
        .select_from(judgements.join(tasks).join(sentences).join(annotators))
        .where(condition)
        .order_by(judgements.c.id)
        .limit(limit)
    )
    return [_judgement(row) for row in connection.execute(chosen)]


def _judgement(row: Row[Any]) -> Judgement:
    of, mine = row._mapping, judgements.c
    return Judgement(
        of[mine.id],
        asked(row),
        of[annotators.c.name],
        of[mine.revision],
        of[mine.withdrawn],
        of[mine.slot],
        answer_of(of[mine.kind], of[mine.label]),
        candidates_of(of[mine.candidates]),
        of[mine.model],
        of[mine.started],
        of[mine.ended],
    )
