"""Who gets what: a task goes to two annotators at random, where they differ to two more, and to nobody twice.

Each task has seats. Who takes one decreases the number of free seats, which the database does not let fall below 0, and
no two rows hold the same seat; so no order of events lets too many people in. A seat is leased: who lets the lease
lapse may lose it to somebody else, and may go on while nobody has taken it.

Writers lock one annotator, then tasks, and wait for a task only while they hold no other one.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, select, update

from tagweave.annotate import people, questions, training_phase
from tagweave.annotate.aggregation import Status, aggregate
from tagweave.annotate.questions import Asked, answer_of, candidates_of
from tagweave.annotate.schema import annotators, assignments, judgements, labels, tasks
from tagweave.annotate.settings import ONCE, Settings
from tagweave.annotate.task import Answer, Kind, Purpose, Task

_SEATED = (Purpose.REAL, Purpose.CONCORDANCE)  # all others may be answered by everybody


class RefusedError(ValueError):
    """An answer that is not taken; nothing has changed. The message may be shown to whoever gave it."""


class ContendedError(RuntimeError):
    """All tasks that came into question are in the hands of other transactions; another try will do."""


class Lease(NamedTuple):
    """A task in somebody's hands.

    Attributes:
        task_id: its number, to answer it by.
        task: what is asked, with the candidates to show. Its gold is not to be shown before the answer.
        leased, expires: since when, and when it may go to somebody else, in seconds since 1970, UTC.
    """

    task_id: int
    task: Task
    leased: float
    expires: float


class Receipt(NamedTuple):
    """An answer is in the store.

    Attributes:
        status: how far its task is now.
        gold: what was right, of a simulated task of the training phase; `None` of all others.
    """

    status: Status
    gold: Answer | None


def claim(connection: Connection, annotator: int, now: float, settings: Settings, random: Random) -> Lease | None:
    """A task for somebody: the one that they hold, else a new one; `None` where nothing is left for them.

    Who is not admitted gets simulated tasks. All others get tasks of which nobody knows the answer, drawn from the most
    doubtful ones, with planted gold in between.

    Raises:
        ContendedError: others are just taking the tasks that are left.
    """
    is_admitted = _lock_annotator(connection, annotator) or settings.admission is None
    _free_lapsed(connection, now)
    if (number := _held(connection, annotator)) is not None:
        return _lease(connection, number, annotator, now, settings, is_new=False)
    purposes = [Purpose.REAL] if is_admitted else [Purpose.TRAINING]
    if is_admitted and random.random() < settings.gold_share:
        purposes.insert(0, Purpose.GOLD)
    for purpose in purposes:
        if (number := _choose(connection, annotator, purpose, settings.window, random)) is not None:
            return _lease(connection, number, annotator, now, settings)
    return None


def submit(
    connection: Connection, annotator: int, number: int, answer: Answer, started: float, now: float, settings: Settings
) -> Receipt:
    """Take an answer, and find out how far its task is now. The same answer again changes nothing.

    Raises:
        RefusedError: a task that was not given to the annotator, was taken away, or was answered otherwise before; an
            answer that is neither a candidate nor a label of the guideline.
    """
    _lock_annotator(connection, annotator)
    found, row = _lock_task(connection, number), _assignment(connection, number, annotator)
    if found is None or row is None:
        raise RefusedError("this task was not given to you")
    gold = found.task.gold if found.task.purpose is Purpose.TRAINING else None
    if row.expires is None:
        if _standing(connection, number, annotator) != answer:
            raise RefusedError("this task was answered before")
        return Receipt(found.status, gold)
    status = _record(connection, found, row, answer, started, now, settings)
    if gold is not None and settings.admission is not None:
        _admit(connection, annotator, now, settings)
    return Receipt(status, gold)


def mark(
    connection: Connection, annotator: int, numbers: list[int], answer: Answer, now: float, settings: Settings
) -> list[bool]:
    """Answer several tasks of a concordance at once; of each, whether the answer stands now.

    It does not where somebody else was first. Who was first may change their mind.

    Raises:
        RefusedError: a task that is none of a concordance, or an answer that does not suit it.
    """
    _lock_annotator(connection, annotator)
    took = {number: _mark_one(connection, annotator, number, answer, now, settings) for number in sorted({*numbers})}
    return [took[number] for number in numbers]


def withdraw(connection: Connection, annotator: int, now: float, settings: Settings) -> Lease:
    """Undo the last answer of somebody that stands; they hold its task again.

    Raises:
        RefusedError: there is none, a curator has decided on it, or its gold was shown.
    """
    _lock_annotator(connection, annotator)
    number = _last_answered(connection, annotator)
    if number is None:
        raise RefusedError("there is nothing to undo")
    found, row = _lock_task(connection, number), _assignment(connection, number, annotator)
    if found is None or row is None or found.status is Status.ADJUDICATED or found.task.purpose is Purpose.TRAINING:
        raise RefusedError("this answer can no longer be undone")
    answer = _standing(connection, number, annotator)
    assert answer is not None  # noqa: S101  # it was found by its standing
    _append(connection, row, answer, row.seat, now, now, withdrawn=True)
    lease = _lease(connection, number, annotator, now, settings)
    _settle(connection, found, now, settings)
    return lease


def _lock_annotator(connection: Connection, number: int) -> bool:
    """Keep other transactions of an annotator out; whether they are admitted."""
    mine = select(annotators.c.admitted).where(annotators.c.id == number).with_for_update(key_share=True)
    row = connection.execute(mine).one_or_none()
    if row is None:
        raise RefusedError("you are no annotator of this store")
    return row.admitted is not None


def _lock_task(connection: Connection, number: int) -> Asked | None:
    """Wait until a task is nobody else's, and read it."""
    connection.execute(select(tasks.c.id).where(tasks.c.id == number).with_for_update(key_share=True))
    return questions.read(connection, number)


def _assignment(connection: Connection, number: int, annotator: int) -> Row[Any] | None:
    return connection.execute(select(assignments).where(_of(number, annotator))).one_or_none()


def _of(number: int, annotator: int) -> ColumnElement[bool]:
    return and_(assignments.c.task == number, assignments.c.annotator == annotator)


def _free_lapsed(connection: Connection, now: float) -> None:
    """Free the seats whose leases have lapsed, but for tasks that others have locked."""
    is_lapsed = (assignments.c.expires < now) & assignments.c.seat.is_not(None)
    for number in connection.execute(select(assignments.c.task).where(is_lapsed)).scalars().all():
        locked = select(tasks.c.id).where(tasks.c.id == number).with_for_update(key_share=True, skip_locked=True)
        if connection.execute(locked).one_or_none() is None:
            continue
        lapsed = update(assignments).where(is_lapsed, assignments.c.task == number).values(seat=None)
        free = tasks.c.free + connection.execute(lapsed).rowcount
        is_open = (tasks.c.id == number) & (tasks.c.status == Status.OPEN)
        connection.execute(update(tasks).where(is_open).values(free=free))


def _held(connection: Connection, annotator: int) -> int | None:
    """The task that was handed to an annotator last, and that they may still answer."""
    is_mine = (assignments.c.annotator == annotator) & assignments.c.expires.is_not(None)
    handed = (
        select(tasks.c.id, assignments.c.seat, tasks.c.wanted)
        .join_from(assignments, tasks)
        .where(is_mine, tasks.c.purpose != Purpose.CONCORDANCE)
        .order_by(assignments.c.leased.desc())
    )
    for number, seat, wanted in connection.execute(handed).all():
        if seat is not None or wanted == 0:
            return int(number)
        if (seat := _take_seat(connection, number, wait=False)) is not None:
            connection.execute(update(assignments).where(_of(number, annotator)).values(seat=seat))
            return int(number)
    return None


def _choose(connection: Connection, annotator: int, purpose: Purpose, window: int, random: Random) -> int | None:
    """Give an annotator a seat at one of the most doubtful tasks, by chance, or one that everybody may answer."""
    mine = select(assignments.c.task).where(_of_column(annotator)).exists()
    is_wanted = tasks.c.free > 0 if purpose in _SEATED else tasks.c.wanted == 0
    may_come = (tasks.c.purpose == purpose) & (tasks.c.status == Status.OPEN) & is_wanted & ~mine
    best = select(tasks.c.id).where(may_come).order_by(tasks.c.doubt.desc(), tasks.c.id).limit(window)
    numbers = connection.execute(best).scalars().all()
    for number in random.sample(numbers, len(numbers)):
        if purpose not in _SEATED:
            return _assign(connection, number, annotator, None)
        if (seat := _take_seat(connection, number, wait=False)) is not None:
            return _assign(connection, number, annotator, seat)
    if numbers:
        raise ContendedError("all tasks are locked")
    return None


def _of_column(annotator: int) -> ColumnElement[bool]:
    return and_(assignments.c.task == tasks.c.id, assignments.c.annotator == annotator)


def _take_seat(connection: Connection, number: int, wait: bool) -> int | None:
    """The lowest free seat of a task, if there is one."""
    free = (tasks.c.id == number) & (tasks.c.free > 0)
    locked = select(tasks.c.wanted).where(free).with_for_update(key_share=True, skip_locked=not wait)
    wanted: int | None = connection.execute(locked).scalar_one_or_none()
    if wanted is None:
        return None
    connection.execute(update(tasks).where(free).values(free=tasks.c.free - 1))
    taken: set[int] = {*connection.execute(select(assignments.c.seat).where(assignments.c.task == number)).scalars()}
    return min(seat for seat in range(wanted) if seat not in taken)


def _assign(connection: Connection, number: int, annotator: int, seat: int | None) -> int:
    times = {"leased": 0.0, "expires": 0.0}  # until the lease begins, in the same transaction
    row: dict[str, Any] = {"task": number, "annotator": annotator, "seat": seat, "candidates": [], **times}
    connection.execute(insert(assignments).values(**row))
    return number


def _lease(
    connection: Connection, number: int, annotator: int, now: float, settings: Settings, is_new: bool = True
) -> Lease:
    """Begin or extend a lease, and write down what is shown."""
    found = questions.read(connection, number)
    assert found is not None  # noqa: S101  # assignments refer to tasks
    values = {"candidates": found.task.candidates, "model": found.task.model, "expires": now + settings.lease}
    if is_new:
        values["leased"] = now
    changed = update(assignments).where(_of(number, annotator)).values(**values).returning(assignments.c.leased)
    return Lease(number, found.task, connection.execute(changed).scalar_one(), now + settings.lease)


def _mark_one(
    connection: Connection, annotator: int, number: int, answer: Answer, now: float, settings: Settings
) -> bool:
    found, row = _lock_task(connection, number), _assignment(connection, number, annotator)
    if found is None or found.task.purpose is not Purpose.CONCORDANCE:
        raise RefusedError("this task is none of a concordance")
    if row is None:
        if (seat := _take_seat(connection, number, wait=True)) is None:
            return False
        _assign(connection, number, annotator, seat)
        _lease(connection, number, annotator, now, settings)
        row = _assignment(connection, number, annotator)
    elif row.expires is None and _standing(connection, number, annotator) == answer:
        return True
    assert row is not None  # noqa: S101
    try:
        _record(connection, found, row, answer, row.leased, now, settings)
    except _TakenError:
        return False
    return True


class _TakenError(RefusedError):
    """The lease had lapsed, and the seat is somebody else's."""


def _record(
    connection: Connection,
    found: Asked,
    row: Row[Any],
    answer: Answer,
    started: float,
    now: float,
    settings: Settings,
) -> Status:
    """Write an answer to a task that is locked, in the seat that was leased or a free one."""
    _check(connection, found.task, row, answer)
    seat = row.seat
    if seat is None and found.task.purpose in _SEATED:
        seat = _take_seat(connection, found.id, wait=True)
        if seat is None:
            raise _TakenError("this task has gone to somebody else")
    done = update(assignments).where(_of(row.task, row.annotator)).values(expires=None, seat=seat)
    connection.execute(done)
    _append(connection, row, answer, seat, min(max(started, row.leased), now), now)
    return _settle(connection, found, now, settings)


def _check(connection: Connection, task: Task, row: Row[Any], answer: Answer) -> None:
    if answer.kind is Kind.WORD and task.purpose is not Purpose.CONCORDANCE:
        raise RefusedError("this task asks for a label")
    if answer.kind is not Kind.LABEL or answer.label in {each.label for each in candidates_of(row.candidates)}:
        return
    name = (answer.label or "").replace("\0", "")  # PostgreSQL refuses it
    known = (labels.c.guideline == task.guideline) & (labels.c.label == name)
    if name != answer.label or connection.execute(select(labels.c.rank).where(known)).one_or_none() is None:
        raise RefusedError(f"the guideline {task.guideline} has no such label")


def _append(
    connection: Connection,
    row: Row[Any],
    answer: Answer,
    seat: int | None,
    started: float,
    ended: float,
    withdrawn: bool = False,
) -> None:
    mine = (judgements.c.task == row.task) & (judgements.c.annotator == row.annotator)
    revision = connection.execute(select(func.count()).where(mine)).scalar_one()
    values = {"task": row.task, "annotator": row.annotator, "revision": revision, "withdrawn": withdrawn, "seat": seat}
    shown = {"kind": answer.kind, "label": answer.label, "candidates": row.candidates, "model": row.model}
    connection.execute(insert(judgements).values(**values, **shown, started=started, ended=ended))


def _standing(connection: Connection, number: int, annotator: int) -> Answer | None:
    """The answer of an annotator that stands."""
    mine = (judgements.c.task == number) & (judgements.c.annotator == annotator)
    last = select(judgements).where(mine).order_by(judgements.c.revision.desc()).limit(1)
    row = connection.execute(last).one_or_none()
    return None if row is None or row.withdrawn else answer_of(row.kind, row.label)


def _last_answered(connection: Connection, annotator: int) -> int | None:
    """The task whose answer an annotator gave last, of those that stand."""
    mine = (judgements.c.annotator == annotator) & ~judgements.c.withdrawn
    answered = (
        select(judgements.c.task)
        .join(assignments, and_(assignments.c.task == judgements.c.task, assignments.c.annotator == annotator))
        .where(mine, assignments.c.expires.is_(None))
        .order_by(judgements.c.id.desc())
        .limit(1)
    )
    number: int | None = connection.execute(answered).scalar_one_or_none()
    return number


def _settle(connection: Connection, found: Asked, now: float, settings: Settings) -> Status:
    """Find out how far a task is that is locked, and how many seats are free."""
    if found.task.purpose not in _SEATED or found.status is Status.ADJUDICATED:
        return found.status
    rule = settings.rule if found.task.purpose is Purpose.REAL else ONCE
    seats = _answers(connection, found.id)
    answers = [seats.get(seat) for seat in range(rule.first + rule.more)]
    outcome = aggregate(answers, rule)
    is_open = outcome.status is Status.OPEN
    wanted = connection.execute(select(tasks.c.wanted).where(tasks.c.id == found.id)).scalar_one()
    wanted = max(wanted, outcome.wanted)  # seats that are taken are not taken away
    values = {
        "status": outcome.status,
        "kind": outcome.answer.kind if outcome.answer else None,
        "label": outcome.answer.label if outcome.answer else None,
        "settled": None if is_open else now,
        "wanted": wanted,
        "free": wanted - len(seats) if is_open else 0,
    }
    connection.execute(update(tasks).where(tasks.c.id == found.id).values(**values))
    return outcome.status


def _answers(connection: Connection, number: int) -> dict[int, Answer | None]:
    """The answers of a task by seat, `None` where a seat is taken and no answer stands."""
    seated = (assignments.c.task == number) & assignments.c.seat.is_not(None)
    given = and_(judgements.c.task == assignments.c.task, judgements.c.annotator == assignments.c.annotator)
    rows = connection.execute(
        select(assignments.c.seat, judgements.c.withdrawn, judgements.c.kind, judgements.c.label)
        .join_from(assignments, judgements, given, isouter=True)
        .where(seated)
        .order_by(judgements.c.revision)
    )
    return {seat: None if withdrawn else answer_of(kind, label) for seat, withdrawn, kind, label in rows}


def _admit(connection: Connection, annotator: int, now: float, settings: Settings) -> None:
    right = training_phase.results(connection, annotator)
    if settings.admission is not None and training_phase.is_passed(right, settings.admission):
        people.admit(connection, annotator, now)
