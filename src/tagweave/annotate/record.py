"""Judgements and decisions, read back; adjudication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, select, update

from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import RefusedError, check
from tagweave.annotate.confusions import Confusions
from tagweave.annotate.people import numbered
from tagweave.annotate.posterior import Given, Posterior, PosteriorRule, posterior
from tagweave.annotate.questions import ASKED, Asked, answer_in, asked, candidates_of
from tagweave.annotate.reliability import Answered
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


def answered(connection: Connection) -> list[Answered]:
    """All tasks of labels with standing answers; what is right of planted gold, and of what a curator decided."""
    columns = tasks.c.id, tasks.c.guideline, tasks.c.candidates, tasks.c.gold_kind, tasks.c.gold_label
    chosen = (
        select(*columns, tasks.c.status, tasks.c.kind, tasks.c.label)
        .add_columns(judgements.c.annotator, judgements.c.kind.label("said_kind"), judgements.c.label.label("said"))
        .join_from(judgements, tasks)
        .where(tasks.c.purpose.in_([Purpose.REAL, Purpose.GOLD]), tasks.c.asks == Asks.LABEL, _stands())
        .order_by(tasks.c.id, judgements.c.id)
    )
    found: dict[int, Answered] = {}
    for row in connection.execute(chosen):
        if row.id not in found:
            right = answer_in(row.kind, row.label) if row.status == Status.ADJUDICATED else None
            right = right or answer_in(row.gold_kind, row.gold_label)
            found[row.id] = Answered(row.guideline, candidates_of(row.candidates), [], right)
        found[row.id].given.append(Given(row.annotator, answer_of(row.said_kind, row.said)))
    return [*found.values()]


class OpenPosterior(NamedTuple):
    """An open task, its answers, and what is probably right."""

    asked: Asked
    answers: int
    posterior: Posterior
    gain: float


def most_gain(connection: Connection, rule: PosteriorRule, count: int) -> list[OpenPosterior]:
    """Open tasks of labels of which another answer is expected to gain most, the most first; at most `count`."""
    is_open = (tasks.c.purpose == Purpose.REAL) & (tasks.c.status == Status.OPEN) & (tasks.c.asks == Asks.LABEL)
    chosen = ASKED.where(is_open).order_by(tasks.c.gain.desc(), tasks.c.id).limit(count)
    rows = connection.execute(chosen).all()
    given = _given(connection, tasks.c.id.in_([row._mapping[tasks.c.id] for row in rows]))
    found = []
    for row in rows:
        question, gain = asked(row), row._mapping[tasks.c.gain]
        own, people = given.get(question.id, []), rule.confusions(question.task.guideline)
        found.append(OpenPosterior(question, len(own), posterior(question.task.candidates, own, people), gain))
    return found


def posteriors(connection: Connection, guideline: str, people: Confusions) -> list[tuple[Asked, Posterior]]:
    """All real tasks of labels with answers, by location, and what is probably right by these."""
    is_one = (tasks.c.purpose == Purpose.REAL) & (tasks.c.asks == Asks.LABEL) & (tasks.c.guideline == guideline)
    given = _given(connection, is_one)
    order = (sentences.c.path, sentences.c.line, sentences.c.id, tasks.c.start, tasks.c.stop)
    every = (asked(row) for row in connection.execute(ASKED.where(is_one).order_by(*order)))
    return [(each, posterior(each.task.candidates, given[each.id], people)) for each in every if given.get(each.id)]


def _given(connection: Connection, condition: ColumnElement[bool]) -> dict[int, list[Given]]:
    """The standing answers of tasks, by their numbers."""
    columns = tasks.c.id, judgements.c.annotator, judgements.c.kind, judgements.c.label
    chosen = select(*columns).join_from(judgements, tasks).where(condition, _stands()).order_by(judgements.c.id)
    given: dict[int, list[Given]] = defaultdict(list)
    for number, annotator, kind, text in connection.execute(chosen):
        given[number].append(Given(annotator, answer_of(kind, text)))
    return given


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
