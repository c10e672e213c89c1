"""Who gets which task: two annotators at random, two more if they differ, and nobody twice.

Each task has slots. Taking one decreases the number of free slots, which the database does not let fall below 0, and no
two rows hold the same slot; so no order of events lets too many people in. A slot is leased. An annotator whose lease
lapses may lose the slot to somebody else, and may still answer while nobody has taken it.

Writers lock one annotator, then tasks, and wait for a task only while they hold no other; `mark` and `withdraw` wait
for several, in the order of their numbers.

Every claim and every answer goes through here, so the statements are built once: SQLAlchemy takes longer to build one
than SQLite takes to run it. Functions that change a task expect it to be locked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import JSON, Connection, Row, String, and_, bindparam, cast, func, insert, select, update

from tagweave.annotate.database import annotators, assignments, judgements, labels, tasks
from tagweave.annotate.questions import ASKED, Asked, answer_in, asked, candidates_of, read
from tagweave.annotate.rules import ONCE, Admission, Settings, aggregate
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, Kind, Purpose, Status
from tagweave.errors import TagweaveError


class RefusedError(TagweaveError):
    """An answer that is refused and changes nothing. The message may be shown to the annotator."""


class ContendedError(RuntimeError):
    """Other transactions have locked all suitable tasks; a second attempt will succeed."""


class _TakenError(RefusedError):
    """The lease lapsed, and somebody else has taken the slot."""


class Lease(NamedTuple):
    """A task handed to an annotator."""

    task_id: int
    task: AnnotationTask  # with the candidates to show; its gold must not be shown before the answer
    leased: float
    expires: float  # from then on it may go to somebody else


class Receipt(NamedTuple):
    """Acknowledges that an answer is in the store."""

    status: Status  # of the task now
    gold: Answer | None  # the right answer to a simulated task of the training phase


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


def assignment_of(connection: Connection, number: int, annotator: int) -> Row[Any] | None:
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


def held_task(connection: Connection, annotator: int) -> int | None:
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


def hand_out(
    connection: Connection, question: Asked, annotator: int, slot: int | None, now: float, expires: float
) -> None:
    """Hand a task to an annotator for the first time, and record the candidates shown."""
    shown = {"candidates": question.task.candidates, "model": question.task.model}
    row = {"task": question.id, "annotator": annotator, "slot": slot, "leased": now, "expires": expires, **shown}
    connection.execute(_LEASE, row)


def hand_out_again(
    connection: Connection, question: Asked, annotator: int, leased: float | None, expires: float
) -> float:
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


def record_answer(
    connection: Connection, row: Row[Any], given: Answer, slot: int | None, started: float, ended: float
) -> None:
    """Record an answer given in a slot."""
    ours = {"this_task": row.task, "this_annotator": row.annotator, "new_slot": slot}
    connection.execute(_ANSWERED, ours)
    _append(connection, row, given, withdrawn=False, slot=slot, started=started, ended=ended)


def record_withdrawal(connection: Connection, row: Row[Any], given: Answer, now: float) -> None:
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
        judgements.c.withdrawn,
        judgements.c.kind,
        judgements.c.label,
        tasks.c.wanted,
    )
    .join_from(assignments, tasks)
    .outerjoin(
        judgements, and_(judgements.c.task == assignments.c.task, judgements.c.annotator == assignments.c.annotator)
    )
    .where(assignments.c.task == _TASK, assignments.c.slot.is_not(None))
    .order_by(judgements.c.revision)
)
_SETTLED = ("status", "kind", "label", "settled", "wanted", "free")
_SETTLE = update(tasks).where(_THIS_TASK).values({name: bindparam(f"new_{name}") for name in _SETTLED})


def settle(connection: Connection, question: Asked, now: float, settings: Settings) -> Status:
    """Update the status of a task and the number of its free slots after an answer or an undo."""
    if question.task.purpose not in WITH_SLOTS or question.status is Status.ADJUDICATED:
        return question.status
    rows = connection.execute(_GIVEN, {"this_task": question.id}).all()
    slots = {row.slot: None if row.withdrawn else answer_in(row.kind, row.label) for row in rows}
    rule = settings.rule if question.task.purpose is Purpose.REAL else ONCE
    outcome = aggregate([slots.get(slot) for slot in range(rule.first + rule.more)], rule)
    is_open = outcome.status is Status.OPEN
    wanted = max(outcome.wanted, rows[0].wanted)  # a slot that is taken stays
    if is_open and question.status is Status.OPEN and wanted == rows[0].wanted:
        return Status.OPEN  # nothing changes, as with any first answer
    new = {
        "this_task": question.id,
        "new_status": outcome.status,
        "new_kind": outcome.answer.kind if outcome.answer else None,
        "new_label": outcome.answer.text if outcome.answer else None,
        "new_settled": None if is_open else now,
        "new_wanted": wanted,
        "new_free": wanted - len(slots) if is_open else 0,
    }
    connection.execute(_SETTLE, new)
    return outcome.status


def _statement(purpose: Purpose) -> Any:
    mine = select(assignments.c.task).where(assignments.c.task == tasks.c.id, assignments.c.annotator == _ANNOTATOR)
    is_wanted = tasks.c.free > 0 if purpose in WITH_SLOTS else tasks.c.wanted == 0
    return (
        select(tasks.c.id)
        .where(tasks.c.purpose == purpose, tasks.c.status == Status.OPEN, is_wanted, ~mine.exists())
        .order_by(tasks.c.uncertainty.desc(), tasks.c.id)
        .limit(bindparam("window"))
    )


_MOST_UNCERTAIN = {purpose: _statement(purpose) for purpose in Purpose}


def most_uncertain(connection: Connection, annotator: int, purpose: Purpose, settings: Settings) -> list[int]:
    """Return the numbers of the most uncertain tasks that an annotator may get and has never had."""
    limits = {"this_annotator": annotator, "window": settings.window}
    return [*connection.execute(_MOST_UNCERTAIN[purpose], limits).scalars()]


@dataclass
class Desk:
    """Hands out tasks to one annotator, whom it locks, and takes their answers, in one transaction.

    Raises RefusedError if there is no such annotator.
    """

    connection: Connection
    annotator: int
    now: float
    settings: Settings
    random: Random

    def __post_init__(self) -> None:
        is_admitted = lock_annotator(self.connection, self.annotator)
        if is_admitted is None:
            raise RefusedError("you are no annotator of this store")
        self._is_admitted = is_admitted or self.settings.admission is None

    def claim(self) -> Lease | None:
        """Do the work of `Store.claim`.

        Annotators who are not admitted get simulated tasks. All others get real tasks, drawn from the most uncertain
        ones, with planted gold in between. Raises ContendedError if others are taking the tasks that are left.
        """
        if (number := held_task(self.connection, self.annotator)) is not None:
            return self._again(number, None)
        purposes = [Purpose.REAL] if self._is_admitted else [Purpose.TRAINING]
        if self._is_admitted and self.random.random() < self.settings.gold_share:
            purposes.insert(0, Purpose.GOLD)
        for purpose in purposes:
            if (chosen := self._choose(purpose)) is not None:
                return self._lease(*chosen)
        return None

    def submit(self, number: int, answer: Answer, started: float) -> Receipt:
        """Do the work of `Store.answer`."""
        question, row = self._given(number)
        if question is None or row is None:
            raise RefusedError("this task was not given to you")
        gold = question.task.gold if question.task.purpose is Purpose.TRAINING else None
        if row.expires is None:
            if standing(self.connection, number, self.annotator) != answer:
                raise RefusedError("this task was answered before")
            return Receipt(question.status, gold)
        status = self._record(question, row, answer, started)
        admission = self.settings.admission
        if gold is not None and admission and is_passed(results(self.connection, self.annotator), admission):
            admit(self.connection, self.annotator, self.now)
            self._is_admitted = True
        return Receipt(status, gold)

    def mark(self, numbers: list[int], answer: Answer) -> list[bool]:
        """Do the work of `Store.mark` for tasks of these numbers."""
        took = {number: self._mark_one(number, answer) for number in sorted({*numbers})}
        return [took[number] for number in numbers]

    def withdraw(self, seen: int, count: int) -> list[Lease]:
        """Do the work of `Store.undo`."""
        numbers = last_answered(self.connection, self.annotator, count)
        if len(numbers) < count:
            raise RefusedError("there is nothing to undo")
        if latest(self.connection, self.annotator) != seen:
            raise RefusedError("it is undone already, or you have answered since")
        return [self._withdraw_one(number) for number in sorted(numbers)]

    def _choose(self, purpose: Purpose) -> tuple[Asked, int | None] | None:
        """Choose one of the most uncertain tasks, at random, and take a slot of it if it has slots."""
        numbers = most_uncertain(self.connection, self.annotator, purpose, self.settings)
        for number in self.random.sample(numbers, len(numbers)):
            if purpose not in WITH_SLOTS:
                return self._read(number), None
            if (taken := take_slot(self.connection, number, wait=False)) is not None:
                return taken
        if numbers:
            raise ContendedError("all tasks are locked")
        return None

    def _lease(self, question: Asked, slot: int | None) -> Lease:
        expires = self.now + self.settings.lease
        hand_out(self.connection, question, self.annotator, slot, self.now, expires)
        return Lease(question.id, question.task, self.now, expires)

    def _again(self, number: int, leased: float | None) -> Lease:
        question, expires = self._read(number), self.now + self.settings.lease
        leased = hand_out_again(self.connection, question, self.annotator, leased, expires)
        return Lease(number, question.task, leased, expires)

    def _read(self, number: int) -> Asked:
        question = read(self.connection, number)
        assert question is not None  # noqa: S101  # tasks are never deleted
        return question

    def _given(self, number: int) -> tuple[Asked | None, Row[Any] | None]:
        """Lock a task; return it and its assignment to the annotator."""
        return lock_task(self.connection, number), assignment_of(self.connection, number, self.annotator)

    def _mark_one(self, number: int, answer: Answer) -> bool:
        question, row = self._given(number)
        if question is None or question.task.purpose is not Purpose.CONCORDANCE:
            raise RefusedError("this task is none of a concordance")
        if row is None:
            if (taken := take_slot(self.connection, number, wait=True)) is None:
                return False
            self._lease(question, taken[1])
            row = assignment_of(self.connection, number, self.annotator)
        elif row.expires is None and standing(self.connection, number, self.annotator) == answer:
            return True
        assert row is not None  # noqa: S101  # it was there, or has just been inserted
        try:
            self._record(question, row, answer, row.leased)
        except _TakenError:
            return False
        return True

    def _record(self, question: Asked, row: Row[Any], answer: Answer, started: float) -> Status:
        """Record an answer to a locked task, in the slot that was leased or in a free one."""
        check(self.connection, question.task, candidates_of(row.candidates), answer)
        slot = row.slot
        if slot is None and question.task.purpose in WITH_SLOTS:
            if (taken := take_slot(self.connection, question.id, wait=True)) is None:
                raise _TakenError("this task has gone to somebody else")
            slot = taken[1]
        record_answer(self.connection, row, answer, slot, min(max(started, row.leased), self.now), self.now)
        return settle(self.connection, question, self.now, self.settings)

    def _withdraw_one(self, number: int) -> Lease:
        question, row = self._given(number)
        answer = standing(self.connection, number, self.annotator)
        is_final = question and (question.status is Status.ADJUDICATED or question.task.purpose is Purpose.TRAINING)
        if question is None or row is None or answer is None or is_final:
            raise RefusedError("this answer can no longer be undone")
        record_withdrawal(self.connection, row, answer, self.now)
        lease = self._again(number, self.now)
        settle(self.connection, question, self.now, self.settings)
        return lease


def check(connection: Connection, task: AnnotationTask, candidates: Iterable[Candidate], answer: Answer) -> None:
    """Raise RefusedError unless an answer fits a task: each label must be a candidate or in the guideline."""
    is_word = answer.kind is Kind.WORD and task.purpose is not Purpose.CONCORDANCE
    is_spans = answer.kind is Kind.SPANS
    if is_word or (answer.kind is not Kind.CANNOT_TELL and is_spans != task.of_spans):
        raise RefusedError(f"this task asks for {'spans' if task.of_spans else 'a label'}")
    for span in (*answer.spans, *answer.rejected):
        if not task.holds(span):
            raise RefusedError(f"the span {span.start + 1} to {span.stop} is not inside the text that is asked about")
    names = {answer.label, *(span.label for span in answer.spans)} - {
        None,
        *(candidate.label for candidate in candidates),
    }
    for name in sorted(filter(None, names)):
        known_label = select(labels.c.rank).where(labels.c.guideline == task.guideline, labels.c.label == name)
        if "\0" in name or connection.execute(known_label).one_or_none() is None:  # PostgreSQL rejects NUL
            raise RefusedError(f"the guideline {task.guideline} has no such label")


def results(connection: Connection, annotator: int) -> list[bool]:
    """Return whether each of an annotator's answers to simulated tasks was right, by time (li-2015, section 4)."""
    mine = (judgements.c.annotator == annotator) & (tasks.c.purpose == Purpose.TRAINING)
    is_right = judgements.c.kind == tasks.c.gold_kind, judgements.c.label.is_not_distinct_from(tasks.c.gold_label)
    chosen = select(*is_right).join_from(judgements, tasks).where(mine).order_by(judgements.c.id)
    return [all(row) for row in connection.execute(chosen)]


def is_passed(right: Sequence[bool], admission: Admission) -> bool:
    """Return whether enough of the last simulated tasks were answered right."""
    last = right[-admission.questions :]
    return len(last) == admission.questions and sum(last) >= admission.accuracy * admission.questions
