"""Who gets which task: two annotators at random, two more if they differ, and nobody twice.

Each task has slots. Taking one decreases the number of free slots, which the database does not let fall below 0, and no
two rows hold the same slot; so no order of events lets too many people in. A slot is leased. An annotator whose lease
lapses may lose the slot to somebody else, and may still answer while nobody has taken it.

Writers lock one annotator, then tasks, and wait for a task only while they hold no other; `mark`, `withdraw` and
`Store.judge_again` wait for several, in the order of their numbers. Where posteriors decide, a task has one slot more
than it has answers, until it is settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from tagweave.annotate import people, questions, slots, training_phase
from tagweave.annotate.aggregation import Status
from tagweave.annotate.questions import Asked, candidates_of
from tagweave.annotate.schema import labels
from tagweave.annotate.settings import Settings
from tagweave.annotate.slots import WITH_SLOTS
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Kind, Purpose


class RefusedError(ValueError):
    """An answer that is refused and changes nothing. The message may be shown to the annotator."""


class ContendedError(RuntimeError):
    """Other transactions have locked all suitable tasks; a second attempt will succeed."""


class _TakenError(RefusedError):
    """The lease lapsed, and somebody else has taken the slot."""


class Lease(NamedTuple):
    """A task handed to an annotator.

    Attributes:
        task_id: the number of the task.
        task: the question, with the candidates to show. Its gold must not be shown before the answer.
        leased, expires: when the lease began, and when the task may go to somebody else, in seconds since 1970, UTC.
    """

    task_id: int
    task: AnnotationTask
    leased: float
    expires: float


class Receipt(NamedTuple):
    """Acknowledges that an answer is in the store.

    Attributes:
        status: the status of the task now.
        gold: the right answer to a simulated task of the training phase; `None` for any other task.
    """

    status: Status
    gold: Answer | None


def claim(connection: Connection, annotator: int, now: float, settings: Settings, random: Random) -> Lease | None:
    """The task that an annotator holds, or else a new one; `None` if nothing is left for them.

    Annotators who are not admitted get simulated tasks. All others get real tasks, drawn from the most uncertain ones,
    with planted gold in between.

    Raises:
        ContendedError: other transactions are taking the tasks that are left.
        RefusedError: no such annotator.
    """
    return _claim(connection, annotator, _lock(connection, annotator), now, settings, random)


def turn(
    connection: Connection,
    annotator: int,
    number: int,
    answer: Answer,
    started: float,
    now: float,
    settings: Settings,
    random: Random,
) -> tuple[Receipt, Lease | None]:
    """`submit`, then `claim`.

    Raises:
        ContendedError, RefusedError: as these.
    """
    is_admitted = _lock(connection, annotator)
    receipt = _submit(connection, annotator, number, answer, started, now, settings)
    if receipt.gold is not None:  # this answer may have admitted them
        is_admitted = _lock(connection, annotator)
    return receipt, _claim(connection, annotator, is_admitted, now, settings, random)


def _claim(
    connection: Connection, annotator: int, is_admitted: bool, now: float, settings: Settings, random: Random
) -> Lease | None:
    is_admitted = is_admitted or settings.admission is None
    slots.free_lapsed(connection, now)
    if (number := slots.held(connection, annotator)) is not None:
        return _again(connection, number, annotator, None, now + settings.lease)
    purposes = [Purpose.REAL] if is_admitted else [Purpose.TRAINING]
    if is_admitted and random.random() < settings.gold_share:
        purposes.insert(0, Purpose.GOLD)
    for purpose in purposes:
        if (chosen := _choose(connection, annotator, purpose, settings, random)) is not None:
            return _new(connection, *chosen, annotator, now, settings)
    return None


def submit(
    connection: Connection, annotator: int, number: int, answer: Answer, started: float, now: float, settings: Settings
) -> Receipt:
    """Take an answer, and update the status of its task. Giving the same answer again changes nothing.

    Raises:
        RefusedError: the annotator never had the task, has lost it, or gave another answer before; or the answer is
            neither a candidate nor a label of the guideline.
    """
    _lock(connection, annotator)
    return _submit(connection, annotator, number, answer, started, now, settings)


def _submit(
    connection: Connection, annotator: int, number: int, answer: Answer, started: float, now: float, settings: Settings
) -> Receipt:
    question, row = slots.lock_task(connection, number), slots.assignment(connection, number, annotator)
    if question is None or row is None:
        raise RefusedError("this task was not given to you")
    gold = question.task.gold if question.task.purpose is Purpose.TRAINING else None
    if row.expires is None:
        if slots.standing(connection, number, annotator) != answer:
            raise RefusedError("this task was answered before")
        return Receipt(question.status, gold)
    status = _record(connection, question, row, answer, started, now, settings)
    if gold is not None:
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
    _lock(connection, annotator)
    took = {number: _mark_one(connection, annotator, number, answer, now, settings) for number in sorted({*numbers})}
    return [took[number] for number in numbers]


def withdraw(
    connection: Connection, annotator: int, seen: int, count: int, now: float, settings: Settings
) -> list[Lease]:
    """Withdraw an annotator's last standing answers, all or none. They hold the tasks again, returned by number.

    Raises:
        RefusedError: there are fewer, their last judgement is not the one that was `seen`, a curator has decided on a
            task, or its gold was shown.
    """
    _lock(connection, annotator)
    numbers = slots.last_answered(connection, annotator, count)
    if len(numbers) < count:
        raise RefusedError("there is nothing to undo")
    if slots.latest(connection, annotator) != seen:
        raise RefusedError("it is undone already, or you have answered since")
    return [_withdraw_one(connection, annotator, number, now, settings) for number in sorted(numbers)]


def _withdraw_one(connection: Connection, annotator: int, number: int, now: float, settings: Settings) -> Lease:
    question, row = slots.lock_task(connection, number), slots.assignment(connection, number, annotator)
    answer = slots.standing(connection, number, annotator)
    is_final = question is None or question.status is Status.ADJUDICATED or question.task.purpose is Purpose.TRAINING
    if question is None or row is None or answer is None or is_final:
        raise RefusedError("this answer can no longer be undone")
    slots.withdraw(connection, row, answer, now)
    lease = _again(connection, number, annotator, now, now + settings.lease)
    slots.settle(connection, question, now, settings)
    return lease


def _lock(connection: Connection, annotator: int) -> bool:
    """Lock an annotator against other transactions, and return whether they are admitted."""
    is_admitted = slots.lock_annotator(connection, annotator)
    if is_admitted is None:
        raise RefusedError("you are no annotator of this store")
    return is_admitted


def _choose(
    connection: Connection, annotator: int, purpose: Purpose, settings: Settings, random: Random
) -> tuple[Asked, int | None] | None:
    """One of the most uncertain tasks, at random, and a slot of it if it has slots."""
    numbers = slots.most_uncertain(connection, annotator, purpose, settings)
    for number in random.sample(numbers, len(numbers)):
        if purpose not in WITH_SLOTS:
            return _read(connection, number), None
        if (taken := slots.take_slot(connection, number, wait=False)) is not None:
            return taken
    if numbers:
        raise ContendedError("all tasks are locked")
    return None


def _new(
    connection: Connection, question: Asked, slot: int | None, annotator: int, now: float, settings: Settings
) -> Lease:
    slots.lease(connection, question, annotator, slot, now, now + settings.lease)
    return Lease(question.id, question.task, now, now + settings.lease)


def _again(connection: Connection, number: int, annotator: int, leased: float | None, expires: float) -> Lease:
    question = _read(connection, number)
    return Lease(number, question.task, slots.extend(connection, question, annotator, leased, expires), expires)


def _read(connection: Connection, number: int) -> Asked:
    question = questions.read(connection, number)
    assert question is not None  # noqa: S101  # tasks are never deleted
    return question


def _mark_one(
    connection: Connection, annotator: int, number: int, answer: Answer, now: float, settings: Settings
) -> bool:
    question, row = slots.lock_task(connection, number), slots.assignment(connection, number, annotator)
    if question is None or question.task.purpose is not Purpose.CONCORDANCE:
        raise RefusedError("this task is none of a concordance")
    if row is None:
        if (taken := slots.take_slot(connection, number, wait=True)) is None:
            return False
        slots.lease(connection, question, annotator, taken.slot, now, now + settings.lease)
        row = slots.assignment(connection, number, annotator)
    elif row.expires is None and slots.standing(connection, number, annotator) == answer:
        return True
    assert row is not None  # noqa: S101  # it was there, or has just been inserted
    try:
        _record(connection, question, row, answer, row.leased, now, settings)
    except _TakenError:
        return False
    return True


def _record(
    connection: Connection,
    question: Asked,
    row: Row[Any],
    answer: Answer,
    started: float,
    now: float,
    settings: Settings,
) -> Status:
    """Record an answer to a locked task, in the slot that was leased or in a free one."""
    check(connection, question.task, candidates_of(row.candidates), answer)
    slot = row.slot
    if slot is None and question.task.purpose in WITH_SLOTS:
        taken = slots.take_slot(connection, question.id, wait=True)
        if taken is None:
            raise _TakenError("this task has gone to somebody else")
        slot = taken.slot
    slots.answer(connection, row, answer, slot, min(max(started, row.leased), now), now)
    return slots.settle(connection, question, now, settings)


def check(connection: Connection, task: AnnotationTask, candidates: Iterable[Candidate], answer: Answer) -> None:
    """Check that an answer fits a task: its labels must be those of candidates or of the guideline.

    Raises:
        RefusedError: it does not fit.
    """
    _check_kind(task, answer.kind)
    for span in (*answer.spans, *answer.rejected):
        if not task.holds(span):
            raise RefusedError(f"the span {span.start + 1} to {span.stop} is not inside the text that is asked about")
    names = {answer.label, *(span.label for span in answer.spans)} - {None, *(each.label for each in candidates)}
    for name in sorted(filter(None, names)):
        _check_label(connection, task.guideline, name)


def _check_kind(task: AnnotationTask, kind: Kind) -> None:
    is_word = kind is Kind.WORD and task.purpose is not Purpose.CONCORDANCE
    if is_word or (kind is not Kind.CANNOT_TELL and (kind is Kind.SPANS) != (task.asks is Asks.SPANS)):
        raise RefusedError(f"this task asks for {'spans' if task.asks is Asks.SPANS else 'a label'}")


def _check_label(connection: Connection, guideline: str, name: str) -> None:
    known = (labels.c.guideline == guideline) & (labels.c.label == name)
    # PostgreSQL rejects NUL
    if "\0" in name or connection.execute(select(labels.c.rank).where(known)).one_or_none() is None:
        raise RefusedError(f"the guideline {guideline} has no such label")


def _admit(connection: Connection, annotator: int, now: float, settings: Settings) -> None:
    right = training_phase.results(connection, annotator)
    if settings.admission is not None and training_phase.is_passed(right, settings.admission):
        people.admit(connection, annotator, now)
