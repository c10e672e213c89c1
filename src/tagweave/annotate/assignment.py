"""Who gets which task: two annotators at random, two more if they differ, and nobody twice.

Each task has slots. Taking one decreases the number of free slots, which the database does not let fall below 0, and no
two rows hold the same slot; so no order of events lets too many people in. A slot is leased. An annotator whose lease
lapses may lose the slot to somebody else, and may still answer while nobody has taken it.

Writers lock one annotator, then tasks, and wait for a task only while they hold no other; `mark`, `withdraw` and
`Store.judge_again` wait for several, in the order of their numbers. Where posteriors decide, a task has one slot more
than it has answers, until it is settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from tagweave.annotate import questions, slots
from tagweave.annotate.database import judgements, labels, tasks
from tagweave.annotate.questions import Asked, candidates_of
from tagweave.annotate.slots import WITH_SLOTS
from tagweave.annotate.task import Admission, AnnotationTask, Answer, Asks, Candidate, Kind, Purpose, Settings, Status
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
        is_admitted = slots.lock_annotator(self.connection, self.annotator)
        if is_admitted is None:
            raise RefusedError("you are no annotator of this store")
        self._is_admitted = is_admitted or self.settings.admission is None

    def claim(self) -> Lease | None:
        """Do the work of `Store.claim`.

        Annotators who are not admitted get simulated tasks. All others get real tasks, drawn from the most uncertain
        ones, with planted gold in between. Raises ContendedError if others are taking the tasks that are left.
        """
        if (number := slots.held(self.connection, self.annotator)) is not None:
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
            if slots.standing(self.connection, number, self.annotator) != answer:
                raise RefusedError("this task was answered before")
            return Receipt(question.status, gold)
        status = self._record(question, row, answer, started)
        admission = self.settings.admission
        if gold is not None and admission and is_passed(results(self.connection, self.annotator), admission):
            slots.admit(self.connection, self.annotator, self.now)
            self._is_admitted = True
        return Receipt(status, gold)

    def mark(self, numbers: list[int], answer: Answer) -> list[bool]:
        """Do the work of `Store.mark` for tasks of these numbers."""
        took = {number: self._mark_one(number, answer) for number in sorted({*numbers})}
        return [took[number] for number in numbers]

    def withdraw(self, seen: int, count: int) -> list[Lease]:
        """Do the work of `Store.undo`."""
        numbers = slots.last_answered(self.connection, self.annotator, count)
        if len(numbers) < count:
            raise RefusedError("there is nothing to undo")
        if slots.latest(self.connection, self.annotator) != seen:
            raise RefusedError("it is undone already, or you have answered since")
        return [self._withdraw_one(number) for number in sorted(numbers)]

    def _choose(self, purpose: Purpose) -> tuple[Asked, int | None] | None:
        """Choose one of the most uncertain tasks, at random, and take a slot of it if it has slots."""
        numbers = slots.most_uncertain(self.connection, self.annotator, purpose, self.settings)
        for number in self.random.sample(numbers, len(numbers)):
            if purpose not in WITH_SLOTS:
                return self._read(number), None
            if (taken := slots.take_slot(self.connection, number, wait=False)) is not None:
                return taken
        if numbers:
            raise ContendedError("all tasks are locked")
        return None

    def _lease(self, question: Asked, slot: int | None) -> Lease:
        expires = self.now + self.settings.lease
        slots.lease(self.connection, question, self.annotator, slot, self.now, expires)
        return Lease(question.id, question.task, self.now, expires)

    def _again(self, number: int, leased: float | None) -> Lease:
        question, expires = self._read(number), self.now + self.settings.lease
        leased = slots.extend(self.connection, question, self.annotator, leased, expires)
        return Lease(number, question.task, leased, expires)

    def _read(self, number: int) -> Asked:
        question = questions.read(self.connection, number)
        assert question is not None  # noqa: S101  # tasks are never deleted
        return question

    def _given(self, number: int) -> tuple[Asked | None, Row[Any] | None]:
        """Lock a task; return it and its assignment to the annotator."""
        return slots.lock_task(self.connection, number), slots.assignment(self.connection, number, self.annotator)

    def _mark_one(self, number: int, answer: Answer) -> bool:
        question, row = self._given(number)
        if question is None or question.task.purpose is not Purpose.CONCORDANCE:
            raise RefusedError("this task is none of a concordance")
        if row is None:
            if (taken := slots.take_slot(self.connection, number, wait=True)) is None:
                return False
            self._lease(question, taken[1])
            row = slots.assignment(self.connection, number, self.annotator)
        elif row.expires is None and slots.standing(self.connection, number, self.annotator) == answer:
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
            if (taken := slots.take_slot(self.connection, question.id, wait=True)) is None:
                raise _TakenError("this task has gone to somebody else")
            slot = taken[1]
        slots.answer(self.connection, row, answer, slot, min(max(started, row.leased), self.now), self.now)
        return slots.settle(self.connection, question, self.now, self.settings)

    def _withdraw_one(self, number: int) -> Lease:
        question, row = self._given(number)
        answer = slots.standing(self.connection, number, self.annotator)
        is_final = question and (question.status is Status.ADJUDICATED or question.task.purpose is Purpose.TRAINING)
        if question is None or row is None or answer is None or is_final:
            raise RefusedError("this answer can no longer be undone")
        slots.withdraw(self.connection, row, answer, self.now)
        lease = self._again(number, self.now)
        slots.settle(self.connection, question, self.now, self.settings)
        return lease


def check(connection: Connection, task: AnnotationTask, candidates: Iterable[Candidate], answer: Answer) -> None:
    """Raise RefusedError unless an answer fits a task: each label must be a candidate or in the guideline."""
    is_word = answer.kind is Kind.WORD and task.purpose is not Purpose.CONCORDANCE
    is_spans = answer.kind is Kind.SPANS
    if is_word or (answer.kind is not Kind.CANNOT_TELL and is_spans != (task.asks is Asks.SPANS)):
        raise RefusedError(f"this task asks for {'spans' if task.asks is Asks.SPANS else 'a label'}")
    for span in (*answer.spans, *answer.rejected):
        if not task.holds(span):
            raise RefusedError(f"the span {span.start + 1} to {span.stop} is not inside the text that is asked about")
    names = {answer.label, *(span.label for span in answer.spans)} - {None, *(each.label for each in candidates)}
    for name in sorted(filter(None, names)):
        known = select(labels.c.rank).where(labels.c.guideline == task.guideline, labels.c.label == name)
        if "\0" in name or connection.execute(known).one_or_none() is None:  # PostgreSQL rejects NUL
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
