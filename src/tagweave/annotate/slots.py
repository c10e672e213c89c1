"""The rows of assignment: slots of tasks, their leases, the answers given in them, and the status of a task.

Every claim and every answer goes through here, so the statements are built once: SQLAlchemy takes longer to build one
than SQLite takes to run it. Functions that change a task expect it to be locked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Row, String, and_, bindparam, cast, func, insert, select, update

from tagweave.annotate.database import annotators, assignments, judgements, tasks
from tagweave.annotate.questions import ASKED, Asked, answer_in, asked
from tagweave.annotate.reliability import GivenAnswer
from tagweave.annotate.task import ONCE, AnnotationTask, Answer, Purpose, Settings, Status, TaskOutcome, aggregate

WITH_SLOTS = (Purpose.REAL, Purpose.CONCORDANCE)
"""Purposes whose tasks have slots; every annotator may answer the others."""

_TASK: Any = bindparam("this_task")
_ANNOTATOR: Any = bindparam("this_annotator")
_NOW: Any = bindparam("now")
_THIS_TASK = tasks.c.id == _TASK
_OURS = and_(assignments.c.task == _TASK, assignments.c.annotator == _ANNOTATOR)
_JUDGED = and_(judgements.c.task == _TASK, judgements.c.annotator == _ANNOTATOR)

_LOCK_ANNOTATOR = select(annotators.c.admitted).where(annotators.c.id == _ANNOTATOR).with_for_update(key_share=True)
_LOCK_TASK = ASKED.where(_THIS_TASK).with_for_update(key_share=True, of=tasks)


def lock_annotator(connection: Connection, number: int) -> bool | None:
    """Lock an annotator against other transactions. Returns whether they are admitted; `None` if there is none."""
    row = connection.execute(_LOCK_ANNOTATOR, {"this_annotator": number}).one_or_none()
    return None if row is None else row.admitted is not None


def admit(connection: Connection, number: int, now: float) -> None:
    """End the training phase of an annotator."""
    is_new = (annotators.c.id == number) & annotators.c.admitted.is_(None)
    connection.execute(update(annotators).where(is_new).values(admitted=now))


def lock_task(connection: Connection, number: int) -> Asked | None:
    """Lock a task, waiting if need be, and read it."""
    row = connection.execute(_LOCK_TASK, {"this_task": number}).one_or_none()
    return None if row is None else asked(row)


_ASSIGNMENT = select(assignments).where(_OURS)


def assignment(connection: Connection, number: int, annotator: int) -> Row[Any] | None:
    """Return the current or former assignment of a task to an annotator."""
    return connection.execute(_ASSIGNMENT, {"this_task": number, "this_annotator": annotator}).one_or_none()


_IS_LAPSED = and_(assignments.c.expires < _NOW, assignments.c.slot.is_not(None))
_LAPSED = select(assignments.c.task).where(_IS_LAPSED)
_TRY_TO_LOCK = select(tasks.c.id).where(_THIS_TASK).with_for_update(key_share=True, skip_locked=True)
_LAPSE = update(assignments).where(_IS_LAPSED, assignments.c.task == _TASK).values(slot=None)
_FREE = (
    update(tasks).where(_THIS_TASK, tasks.c.status == Status.OPEN).values(free=tasks.c.free + bindparam("more_slots"))
)


def free_lapsed(connection: Connection, now: float) -> None:
    """Free the slots whose leases have lapsed, unless others have locked their tasks."""
    for number in {*connection.execute(_LAPSED, {"now": now}).scalars()}:
        this = {"this_task": number}
        if connection.execute(_TRY_TO_LOCK, this).one_or_none() is not None:
            lapsed = connection.execute(_LAPSE, {"now": now, **this}).rowcount
            connection.execute(_FREE, {"more_slots": lapsed, **this})


_FREE_TASK = ASKED.where(_THIS_TASK, tasks.c.free > 0)
_LOCK_FREE = {
    wait: _FREE_TASK.with_for_update(key_share=True, skip_locked=not wait, of=tasks) for wait in (False, True)
}
_TAKEN = select(func.aggregate_strings(cast(assignments.c.slot, String), ",")).where(assignments.c.task == _TASK)
_TAKE = update(tasks).where(_THIS_TASK).values(free=tasks.c.free - 1).returning(_TAKEN.scalar_subquery())


def take_slot(connection: Connection, number: int, wait: bool) -> tuple[Asked, int] | None:
    """Take the lowest free slot of a task; `None` if there is none or, unless `wait`, if others hold the lock."""
    this = {"this_task": number}
    row = connection.execute(_LOCK_FREE[wait], this).one_or_none()
    if row is None:
        return None
    numbers = connection.execute(_TAKE, this).scalar_one()  # after locking, or it might be out of date; `None` for none
    taken = {*map(int, numbers.split(","))} if numbers else set()
    return asked(row), min({*range(row.wanted)} - taken)


_HELD = (
    select(tasks.c.id, assignments.c.slot, tasks.c.wanted)
    .join_from(assignments, tasks)
    .where(assignments.c.annotator == _ANNOTATOR, assignments.c.expires.is_not(None))
    .where(tasks.c.purpose != Purpose.CONCORDANCE)
    .order_by(assignments.c.leased.desc())
)
_RETAKE = update(assignments).where(_OURS).values(slot=bindparam("new_slot"))


def held(connection: Connection, annotator: int) -> int | None:
    """Return the latest task handed to an annotator that they may still answer."""
    for number, slot, wanted in connection.execute(_HELD, {"this_annotator": annotator}).all():
        if slot is not None or wanted == 0:
            return int(number)
        if (taken := take_slot(connection, number, wait=False)) is not None:
            connection.execute(_RETAKE, {"this_task": number, "this_annotator": annotator, "new_slot": taken[1]})
            return int(number)
    return None


_LEASE = insert(assignments)
_EXTEND = (
    update(assignments)
    .where(_OURS)
    .values(
        leased=func.coalesce(bindparam("new_leased", type_=assignments.c.leased.type), assignments.c.leased),
        expires=bindparam("new_expires"),
        candidates=bindparam("new_candidates", type_=JSON),
        model=bindparam("new_model"),
    )
    .returning(assignments.c.leased)
)


def lease(
    connection: Connection, question: Asked, annotator: int, slot: int | None, now: float, expires: float
) -> None:
    """Hand a task to an annotator for the first time, and record the candidates shown."""
    shown = {"candidates": question.task.candidates, "model": question.task.model}
    row = {"task": question.id, "annotator": annotator, "slot": slot, "leased": now, "expires": expires, **shown}
    connection.execute(_LEASE, row)


def extend(connection: Connection, question: Asked, annotator: int, leased: float | None, expires: float) -> float:
    """Hand a task to an annotator again. The lease begins at `leased`, or else when it first did; returns that time."""
    shown = {"new_candidates": question.task.candidates, "new_model": question.task.model}
    times = {"new_leased": leased, "new_expires": expires}
    ours = {"this_task": question.id, "this_annotator": annotator}
    return float(connection.execute(_EXTEND, {**ours, **times, **shown}).scalar_one())


_ANSWERED = update(assignments).where(_OURS).values(expires=None, slot=bindparam("new_slot"))
_APPEND = insert(judgements).values(
    revision=select(func.count()).select_from(judgements).where(_JUDGED).scalar_subquery(),
    task=_TASK,
    annotator=_ANNOTATOR,
    **{
        name: bindparam(f"new_{name}", type_=judgements.c[name].type)
        for name in ("withdrawn", "slot", "kind", "label", "candidates", "model", "started", "ended")
    },
)


def answer(
    connection: Connection, row: Row[Any], given: Answer, slot: int | None, started: float, ended: float
) -> None:
    """Record an answer given in a slot."""
    ours = {"this_task": row.task, "this_annotator": row.annotator, "new_slot": slot}
    connection.execute(_ANSWERED, ours)
    _append(connection, row, given, withdrawn=False, slot=slot, started=started, ended=ended)


def withdraw(connection: Connection, row: Row[Any], given: Answer, now: float) -> None:
    """Record that an answer is withdrawn."""
    _append(connection, row, given, withdrawn=True, slot=row.slot, started=now, ended=now)


def _append(connection: Connection, row: Row[Any], given: Answer, **new: Any) -> None:
    new |= {"kind": given.kind, "label": given.text, "candidates": row.candidates, "model": row.model}
    ours = {"this_task": row.task, "this_annotator": row.annotator}
    connection.execute(_APPEND, {**ours, **{f"new_{name}": value for name, value in new.items()}})


_LAST = select(judgements).where(_JUDGED).order_by(judgements.c.revision.desc()).limit(1)


def standing(connection: Connection, number: int, annotator: int) -> Answer | None:
    """Return the standing answer of an annotator."""
    row = connection.execute(_LAST, {"this_task": number, "this_annotator": annotator}).one_or_none()
    return None if row is None or row.withdrawn else answer_in(row.kind, row.label)


_LATEST = select(func.coalesce(func.max(judgements.c.id), 0)).where(judgements.c.annotator == _ANNOTATOR)


def latest(connection: Connection, annotator: int) -> int:
    """Return the number of an annotator's last judgement, an answer or an undo; 0 if there is none."""
    return int(connection.execute(_LATEST, {"this_annotator": annotator}).scalar_one())


_LATER = judgements.alias()
_IS_LAST = ~(
    select(_LATER.c.id)
    .where(_LATER.c.task == judgements.c.task, _LATER.c.annotator == _ANNOTATOR)
    .where(_LATER.c.revision > judgements.c.revision)
    .exists()
)
_LAST_ANSWERED = (
    select(judgements.c.task)
    .where(judgements.c.annotator == _ANNOTATOR, ~judgements.c.withdrawn, _IS_LAST)
    .order_by(judgements.c.id.desc())
    .limit(bindparam("window"))
)


def last_answered(connection: Connection, annotator: int, count: int) -> list[int]:
    """Return the tasks of an annotator's last standing answers, at most `count`, the latest first."""
    limits = {"this_annotator": annotator, "window": count}
    return [*connection.execute(_LAST_ANSWERED, limits).scalars()]


_GIVEN = (
    select(
        assignments.c.slot,
        assignments.c.annotator,
        judgements.c.withdrawn,
        judgements.c.kind,
        judgements.c.label,
        tasks.c.wanted,
        tasks.c.gain,
    )
    .join_from(assignments, tasks)
    .outerjoin(
        judgements, and_(judgements.c.task == assignments.c.task, judgements.c.annotator == assignments.c.annotator)
    )
    .where(assignments.c.task == _TASK, assignments.c.slot.is_not(None))
    .order_by(judgements.c.revision)
)
_SETTLED = ("status", "kind", "label", "settled", "wanted", "free", "gain")
_SETTLE = update(tasks).where(_THIS_TASK).values({name: bindparam(f"new_{name}") for name in _SETTLED})


def settle(connection: Connection, question: Asked, now: float, settings: Settings) -> Status:
    """Update the status of a task and the number of its free slots after an answer or an undo."""
    if question.task.purpose not in WITH_SLOTS or question.status is Status.ADJUDICATED:
        return question.status
    rows = connection.execute(_GIVEN, {"this_task": question.id}).all()
    slots = {row.slot: (row.annotator, None if row.withdrawn else answer_in(row.kind, row.label)) for row in rows}
    outcome = _judged(question.task, slots, rows[0].gain, settings)
    is_open = outcome.status is Status.OPEN
    # a slot that is taken stays
    wanted = max(outcome.wanted, 1 + max(slots) if settings.posterior_of(question.task) else rows[0].wanted)
    if is_open and question.status is Status.OPEN and (wanted, outcome.gain) == (rows[0].wanted, rows[0].gain):
        return Status.OPEN  # nothing changes, as with any first answer
    new = {
        "this_task": question.id,
        "new_status": outcome.status,
        "new_kind": outcome.answer.kind if outcome.answer else None,
        "new_label": outcome.answer.text if outcome.answer else None,
        "new_settled": None if is_open else now,
        "new_wanted": wanted,
        "new_free": wanted - len(slots) if is_open else 0,
        "new_gain": outcome.gain,
    }
    connection.execute(_SETTLE, new)
    return outcome.status


_REGAIN = update(tasks).where(_THIS_TASK).values(gain=bindparam("new_gain"))


def settle_again(connection: Connection, number: int, now: float, settings: Settings) -> None:
    """Judge an open task by the rule as it is now: its outcome, or what another answer is expected to gain."""
    question = lock_task(connection, number)
    if question is None or question.status is not Status.OPEN or not settings.posterior_of(question.task):
        return
    if connection.execute(_GIVEN, {"this_task": number}).first() is not None:
        settle(connection, question, now, settings)
    else:
        new = {"this_task": number, "new_gain": _judged(question.task, {}, 0.0, settings).gain}
        connection.execute(_REGAIN, new)


def _judged(
    task: AnnotationTask, slots: Mapping[int, tuple[int, Answer | None]], gain: float, settings: Settings
) -> TaskOutcome:
    """Judge the answers by slot."""
    if (posterior := settings.posterior_of(task)) is not None:
        given = [GivenAnswer(annotator, answer) for annotator, answer in slots.values() if answer is not None]
        return posterior.judged(task.guideline, task.candidates, given)
    rule = settings.rule if task.purpose is Purpose.REAL else ONCE
    answers = [slots.get(slot, (0, None))[1] for slot in range(rule.first + rule.more)]
    return aggregate(answers, rule)._replace(gain=gain)


def _statement(purpose: Purpose, order: ColumnElement[float]) -> Any:
    mine = select(assignments.c.task).where(assignments.c.task == tasks.c.id, assignments.c.annotator == _ANNOTATOR)
    is_wanted = tasks.c.free > 0 if purpose in WITH_SLOTS else tasks.c.wanted == 0
    return (
        select(tasks.c.id)
        .where(tasks.c.purpose == purpose, tasks.c.status == Status.OPEN, is_wanted, ~mine.exists())
        .order_by(order.desc(), tasks.c.id)
        .limit(bindparam("window"))
    )


_MOST_UNCERTAIN = {purpose: _statement(purpose, tasks.c.uncertainty) for purpose in Purpose}
_MOST_GAIN = _statement(Purpose.REAL, tasks.c.gain)


def most_uncertain(connection: Connection, annotator: int, purpose: Purpose, settings: Settings) -> list[int]:
    """Return the numbers of the most uncertain tasks that an annotator may get and has never had.

    Where posteriors decide, these are the real tasks whose next answer is expected to gain most.
    """
    by_gain = settings.posterior is not None and purpose is Purpose.REAL
    limits = {"this_annotator": annotator, "window": settings.window}
    return [*connection.execute(_MOST_GAIN if by_gain else _MOST_UNCERTAIN[purpose], limits).scalars()]
