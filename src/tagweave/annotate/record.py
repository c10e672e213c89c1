"""Judgements and decisions, read back: votes, posteriors, progress; and adjudication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, case, func, insert, select, update

from tagweave.annotate.assignment import RefusedError, check, results
from tagweave.annotate.database import Database, StorePart, adjudications, annotators, judgements, sentences, tasks
from tagweave.annotate.questions import ASKED, Asked, answer_in, asked, candidates_of
from tagweave.annotate.reliability import (
    Answered,
    Confusions,
    GivenAnswer,
    Posterior,
    PosteriorRule,
    confusions,
    posterior,
)
from tagweave.annotate.task import Answer, Asks, Candidate, Kind, Purpose, Status, answer_of


class Judgement(NamedTuple):
    """One answer of one annotator to one task, or its withdrawal."""

    id: int  # numbers only grow
    task: Asked  # as it is now
    annotator: str
    revision: int  # from 0; the last one of a task and annotator stands
    withdrawn: bool  # an undo, after which no answer stands
    slot: int | None  # the first two annotators have 0 and 1; None for tasks that everybody answers
    answer: Answer
    candidates: tuple[Candidate, ...]  # as they were shown, by this version of the model
    model: int | None
    started: float
    ended: float


class Vote(NamedTuple):
    """A standing answer, as measures of agreement need it."""

    task: int
    annotator: str
    slot: int | None
    answer: Answer


class Progress(NamedTuple):
    """How much an annotator has done."""

    answers: int = 0  # that stand
    seconds: float = 0.0  # spent on judgements, from showing a task to its answer
    gold: int = 0  # answers to planted gold
    right: int = 0  # of these
    judgement: int = 0  # the last one counted


class OpenPosterior(NamedTuple):
    """An open task, its answers, and the answer that is probably right."""

    asked: Asked
    answers: int
    posterior: Posterior
    gain: float


_BEFORE = judgements.alias("before")
_IS_GOLD = tasks.c.purpose == Purpose.GOLD


def _change(value: Callable[[FromClause], Any]) -> Any:
    """Sum the changes in a total over standing judgements: new value minus the old value that it replaces."""
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


_BY_LOCATION = (sentences.c.path, sentences.c.line, sentences.c.id, tasks.c.start, tasks.c.stop)
_PAGE = 500  # judgements read at a time


class Records(StorePart):
    """The judgements and decisions of a store."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        super().__init__(database, clock)
        self._progress: dict[int, Progress] = {}

    def adjudicate(self, curator: int, task: int, answer: Answer) -> None:
        """Record a curator's decision on a task, which overrules annotators; the last decision stands."""
        this = tasks.c.id == task
        locked = select(tasks, sentences).join_from(tasks, sentences).where(this)
        with self._database.writing() as connection:
            role = connection.execute(select(annotators.c.role).where(annotators.c.id == curator)).scalar_one_or_none()
            if role != "curator":
                raise RefusedError("only a curator decides")
            now = self._clock()
            row = connection.execute(locked.with_for_update(key_share=True, of=tasks)).one_or_none()
            if row is None:
                raise RefusedError("there is no such task")
            question = asked(row).task
            check(connection, question, question.candidates, answer)
            outcome = {"kind": answer.kind, "label": answer.text}
            revision = connection.execute(select(func.count()).where(adjudications.c.task == task)).scalar_one()
            decision = {"task": task, "curator": curator, "revision": revision, "decided": now}
            connection.execute(insert(adjudications).values(**decision, **outcome))
            settled = {"status": Status.ADJUDICATED, "free": 0, "settled": now, **outcome}
            connection.execute(update(tasks).where(this).values(**settled))

    def last_judgement(self) -> int:
        """Return the number of the last judgement, 0 if there is none."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.coalesce(func.max(judgements.c.id), 0))).scalar_one())

    def judgements(self, after: int = 0) -> Iterator[Judgement]:
        """Yield judgements with numbers above `after`, by number, including withdrawn ones; they are read in pages."""
        while True:
            with self._database.reading() as connection:
                page = _judgements(connection, judgements.c.id > after, _PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].id

    def judgements_of(self, task: int) -> list[Judgement]:
        """Return all judgements of a task, by number."""
        with self._database.reading() as connection:
            return _judgements(connection, judgements.c.task == task, None)

    def outcomes(self, guideline: str) -> list[Asked]:
        """Return all tasks of a guideline whose answer is known, except "can't tell", by location and span."""
        is_known = tasks.c.status.in_([Status.AGREED, Status.ADJUDICATED]) & (tasks.c.guideline == guideline)
        chosen = ASKED.where(is_known, tasks.c.kind != Kind.CANNOT_TELL).order_by(*_BY_LOCATION)
        with self._database.reading() as connection:
            return [asked(row) for row in connection.execute(chosen)]

    def votes(self, purpose: Purpose = Purpose.REAL, asks: Asks = Asks.LABEL) -> list[Vote]:
        """Return all standing answers to tasks of a purpose that ask for this, by task and slot."""
        chosen = (
            select(tasks.c.id, annotators.c.name, judgements.c.slot, judgements.c.kind, judgements.c.label)
            .select_from(judgements.join(tasks).join(annotators))
            .where(tasks.c.purpose == purpose, tasks.c.asks == asks, _stands())
            .order_by(tasks.c.id, judgements.c.slot, judgements.c.id)
        )
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        return [Vote(task, name, slot, answer_of(kind, text)) for task, name, slot, kind, text in rows]

    def answered(self) -> list[Answered]:
        """Return all tasks of labels with standing answers, from which reliability is learned.

        The right answers of planted gold and of tasks that a curator decided are known.
        """
        columns = tasks.c.id, tasks.c.guideline, tasks.c.candidates, tasks.c.gold_kind, tasks.c.gold_label
        chosen = (
            select(*columns, tasks.c.status, tasks.c.kind, tasks.c.label)
            .add_columns(judgements.c.annotator, judgements.c.kind.label("said_kind"), judgements.c.label.label("said"))
            .join_from(judgements, tasks)
            .where(tasks.c.purpose.in_([Purpose.REAL, Purpose.GOLD]), tasks.c.asks == Asks.LABEL, _stands())
            .order_by(tasks.c.id, judgements.c.id)
        )
        found: dict[int, Answered] = {}
        with self._database.reading() as connection:
            for row in connection.execute(chosen):
                if row.id not in found:
                    right = answer_in(row.kind, row.label) if row.status == Status.ADJUDICATED else None
                    right = right or answer_in(row.gold_kind, row.gold_label)
                    found[row.id] = Answered(row.guideline, candidates_of(row.candidates), [], right)
                found[row.id].given.append(GivenAnswer(row.annotator, answer_of(row.said_kind, row.said)))
        return [*found.values()]

    def posteriors(self, guideline: str) -> list[tuple[Asked, Posterior]]:
        """Return the posterior of each real task of labels of a guideline with answers, by location."""
        people = confusions(self.answered()).get(guideline, Confusions())
        is_one = (tasks.c.purpose == Purpose.REAL) & (tasks.c.asks == Asks.LABEL) & (tasks.c.guideline == guideline)
        with self._database.reading() as connection:
            given = _given(connection, is_one)
            every = [asked(row) for row in connection.execute(ASKED.where(is_one).order_by(*_BY_LOCATION))]
        return [(each, posterior(each.task.candidates, given[each.id], people)) for each in every if given.get(each.id)]

    def progress(self, annotator: int) -> Progress:
        """Return how much an annotator has done: the progress known so far, plus the judgements since.

        Counting all of them on each page would get ever slower. The judgements of one annotator are numbered in the
        order in which they are committed, because each waits for the lock on the annotator's row.
        """
        known = self._progress.get(annotator, Progress())
        with self._database.reading() as connection:
            *changes, last = connection.execute(_SINCE, {"annotator": annotator, "after": known.judgement}).one()
        if last is not None:
            answers, seconds, gold, right = (old + new for old, new in zip(known, changes, strict=False))
            known = Progress(answers, seconds, gold, right, last)
            self._progress[annotator] = known
        return known

    def training_results(self, annotator: int) -> list[bool]:
        """Return whether each of an annotator's answers to simulated tasks was right, by time."""
        with self._database.reading() as connection:
            return results(connection, annotator)


def standing(judged: Iterable[Judgement]) -> list[Judgement]:
    """Return the last judgement of each annotator of one task that was not withdrawn; `judged` are by number."""
    last = {each.annotator: each for each in judged}
    return [each for each in last.values() if not each.withdrawn]


def most_gain(connection: Connection, rule: PosteriorRule, count: int) -> list[OpenPosterior]:
    """Return at most `count` open tasks of labels, those with the greatest expected gain of another answer first."""
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


def _given(connection: Connection, condition: ColumnElement[bool]) -> dict[int, list[GivenAnswer]]:
    """Return the standing answers of tasks, by their numbers."""
    columns = tasks.c.id, judgements.c.annotator, judgements.c.kind, judgements.c.label
    chosen = select(*columns).join_from(judgements, tasks).where(condition, _stands()).order_by(judgements.c.id)
    given: dict[int, list[GivenAnswer]] = defaultdict(list)
    for number, annotator, kind, text in connection.execute(chosen):
        given[number].append(GivenAnswer(annotator, answer_of(kind, text)))
    return given


def _stands() -> ColumnElement[bool]:
    """Select the judgements that are the last of their task and annotator, and no undo."""
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
    found, mine = [], judgements.c
    for row in connection.execute(chosen):
        of = row._mapping
        before = of[mine.id], asked(row), of[annotators.c.name], of[mine.revision], of[mine.withdrawn], of[mine.slot]
        answer, shown = answer_of(of[mine.kind], of[mine.label]), candidates_of(of[mine.candidates])
        found.append(Judgement(*before, answer, shown, of[mine.model], of[mine.started], of[mine.ended]))
    return found
