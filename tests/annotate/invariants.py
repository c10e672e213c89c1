"""What is true of a store after any order of events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from tagweave.annotate.database import Database, assignments, judgements, tasks
from tagweave.annotate.questions import answer_in
from tagweave.annotate.rules import Rule, TaskOutcome, aggregate
from tagweave.annotate.task import Answer, Purpose, Status


def check_slots(url: str, most: int = 4) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Assert that no slot is taken twice, and others that are wanted are free; tasks, assignments, judgements."""
    database = Database(url)
    with database.reading() as connection:
        found = connection.execute(select(tasks).where(tasks.c.purpose == Purpose.REAL)).all()
        held = connection.execute(select(assignments)).all()
        rows = connection.execute(select(judgements).order_by(judgements.c.id)).all()
    database.close()
    for task in found:
        slots = [each.slot for each in held if each.task == task.id and each.slot is not None]
        assert len({*slots}) == len(slots)
        assert all(0 <= slot < task.wanted <= most for slot in slots)
        assert task.free == (task.wanted - len(slots) if task.status == Status.OPEN else 0)
    return found, held, rows


def check(url: str, rule: Rule) -> dict[int, TaskOutcome]:
    """Assert it of the tasks nobody knows the answer of; the outcome of each."""
    found, held, rows = check_slots(url, rule.first + rule.more)
    assert len({(each.task, each.annotator) for each in held}) == len(held)  # to nobody twice
    standing: dict[tuple[int, int], tuple[Answer | None, int]] = {}
    revisions = defaultdict(list)
    for each in rows:
        answer = answer_in(each.kind, each.label)
        standing[each.task, each.annotator] = (None if each.withdrawn else answer, each.slot)
        revisions[each.task, each.annotator].append((each.revision, each.withdrawn))
    for history in revisions.values():  # answer, undo, answer, undo ...: no answer is there twice
        assert history == [(number, number % 2 == 1) for number in range(len(history))]
    return {
        task.id: _check_task(task, [each for each in held if each.task == task.id], standing, rule) for task in found
    }


def _check_task(task, held, standing, rule: Rule) -> TaskOutcome:  # type: ignore[no-untyped-def]
    answers: list[Answer | None] = [None] * (rule.first + rule.more)
    for each in held:
        answer, _ = standing.get((task.id, each.annotator), (None, None))
        assert (each.expires is None) == (answer is not None)  # it is answered, or in somebody's hands
        if answer is not None:
            assert each.slot is not None
            answers[each.slot] = answer
    outcome = aggregate(answers, rule)
    if task.status != Status.ADJUDICATED:
        assert task.status == outcome.status
        assert answer_in(task.kind, task.label) == outcome.answer
        assert task.wanted >= outcome.wanted
    assert (task.settled is None) == (task.status == Status.OPEN)
    return outcome
