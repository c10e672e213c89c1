"""The store of an annotation server, in SQLite or PostgreSQL.

    store = Store.open("sqlite:///answers.db")
    store.add_annotator("name")
    store.add_tasks([AnnotationTask(sentence, 3, 4, "ctb", (Candidate("NN", 0.6), Candidate("VV", 0.4)))])
    lease = store.claim(annotator.id)
    store.answer(annotator.id, lease.task_id, label("NN"))

Every method is one transaction. A method that writes returns once its transaction is on disk, so its result survives a
crash of the process or the machine. Several threads and processes may use a store at once. Numbers (of tasks,
annotators, sentences) count within the store; times are seconds since 1970, UTC.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, case, func, insert, select, update

from tagweave.annotate import database
from tagweave.annotate.assignment import (
    ContendedError,
    Desk,
    Lease,
    Receipt,
    RefusedError,
    check,
    free_lapsed,
    results,
)
from tagweave.annotate.database import (
    Database,
    adjudications,
    annotators,
    insert_new,
    invitations,
    judgements,
    labels,
    models,
    prepare,
    sentences,
    tasks,
)
from tagweave.annotate.questions import (
    ASKED,
    MANY,
    Asked,
    asked,
    candidates_of,
    labels_of,
    look_up,
    put_tasks,
    rank,
    read,
)
from tagweave.annotate.rules import Settings
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Kind, Purpose, Ranking, Status, answer_of

T = TypeVar("T")


ROLES = ("annotator", "curator")
LONGEST = 200
"""Characters of a name: PostgreSQL cannot look up thousands."""

_LAPSES = 1.0  # seconds between two looks for lapsed leases
_FRESH = 10.0  # seconds for which labels are cached: every page of tasks shows them all


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person who may sign in."""

    id: int
    name: str
    role: str
    password_hash: str | None  # None: they can sign in only by a link
    created: float
    admitted: float | None  # since when they need no training phase: passed it, or are a curator
    session_epoch: int  # sessions of an earlier epoch are over


class ModelVersion(NamedTuple):
    """A trained model."""

    version: int
    path: str
    trained: float
    judgement: int  # the last one it was trained on
    minutes: float  # of annotation up to that judgement
    accuracy: float | None  # on development data


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


class Store:
    """A store. `Store.open` makes one."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], float], seed: int | None) -> None:
        self._database, self._clock, self.settings = database, clock, settings
        self._random = random.Random(seed)
        self._freed = -inf  # when lapsed leases were last looked for
        self._labels: dict[str, tuple[float, dict[str, str]]] = {}
        self._progress: dict[int, Progress] = {}

    @classmethod
    def open(
        cls,
        url: str,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        seed: int | None = None,
    ) -> Store:
        """Open the store at a URL, or create it if it does not exist; `seed` decides who gets which task."""
        database = Database(url)
        try:
            prepare(database)
        except BaseException:
            database.close()
            raise
        return cls(database, settings or Settings(), clock, seed)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def keep(self, name: str, make: Callable[[], str]) -> str:
        """Return a value that is created once and then stays the same for all, such as the key that signs cookies."""
        chosen = select(database.values.c.value).where(database.values.c.name == name)
        with self._database.writing() as connection:
            if (value := connection.execute(chosen).scalar_one_or_none()) is None:
                insert_new(connection, database.values, [{"name": name, "value": make()}])
                value = connection.execute(chosen).scalar_one()
            return str(value)

    def add_annotator(self, name: str, role: str = "annotator", password_hash: str | None = None) -> Annotator:
        """Add a person with the role `annotator` or `curator`. Curators are admitted at once."""
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise ValueError(f"found the name {name[:LONGEST]!r}, expected 1 to {LONGEST} printable characters")
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r}, expected one of {', '.join(ROLES)}")
        now = self._clock()
        row = {"name": name, "role": role, "password_hash": password_hash, "created": now}
        new = insert(annotators).values(**row, admitted=now if role == "curator" else None).returning(annotators)
        with self._database.writing() as connection:
            if _find(connection, name) is not None:
                raise ValueError(f"found the name {name!r} in use, expected a new one")
            return Annotator(*connection.execute(new).one())

    def annotator(self, who: int | str) -> Annotator | None:
        """Return the annotator with a number or a name."""
        with self._database.reading() as connection:
            return _find(connection, who)

    def annotators(self) -> list[Annotator]:
        """Return all annotators and curators, by name."""
        with self._database.reading() as connection:
            return [Annotator(*row) for row in connection.execute(select(annotators).order_by(annotators.c.name))]

    def end_sessions(self, annotator: int) -> None:
        """End all sessions of an annotator, by a new `session_epoch`."""
        with self._database.writing() as connection:
            _end_sessions(connection, annotator)

    def invite(self, annotator: int, token: str, seconds: float) -> None:
        """Let a token sign an annotator in, once, within so many seconds; the store keeps a digest of the token."""
        row = {"digest": _digest(token), "annotator": annotator, "expires": self._clock() + seconds}
        with self._database.writing() as connection:
            connection.execute(insert(invitations).values(**row))

    def is_invited(self, token: str) -> bool:
        """Return whether a token is valid now; somebody else may use it up before it is redeemed."""
        chosen = select(invitations.c.annotator).where(_is_valid(token, self._clock()))
        with self._database.reading() as connection:
            return connection.execute(chosen).scalar_one_or_none() is not None

    def redeem(self, token: str, password_hash: str) -> Annotator | None:
        """Use up a token and set its annotator's password; `None` if the token is unknown, used or too old."""
        now = self._clock()
        use = update(invitations).where(_is_valid(token, now)).values(used=now).returning(invitations.c.annotator)
        with self._database.writing() as connection:
            number = connection.execute(use).scalar_one_or_none()
            if number is None:
                return None
            _end_sessions(connection, number, password_hash=password_hash)
            return _find(connection, number)

    def add_tasks(self, tasks: Iterable[AnnotationTask]) -> int:
        """Add the tasks that are new, and return their number."""
        with self._database.writing() as connection:
            return put_tasks(connection, tasks, self.settings)

    def rank(self, model: int, rankings: Iterable[Ranking]) -> int:
        """Give open tasks the uncertainty and candidates of a newer model, and return their number."""
        with self._database.writing() as connection:
            return rank(connection, model, rankings)

    def claim(self, annotator: int) -> Lease | None:
        """Return the task that an annotator holds, or else a new one; `None` if nothing is left for them."""
        return self._patiently(lambda connection: self._claimed(self._desk(connection, annotator)))

    def answer(self, annotator: int, task: int, answer: Answer, started: float | None = None) -> Receipt:
        """Take an answer to a claimed task. Giving the same answer again changes nothing.

        `started` is when the task was shown; the time of its claim if that is unknown or earlier.

        Raises:
            RefusedError: the task was never or is no longer theirs, or has another answer; or the label is unknown.
        """
        with self._database.writing() as connection:
            return self._desk(connection, annotator).submit(task, answer, started or 0.0)

    def answer_and_claim(
        self, annotator: int, task: int, answer: Answer, started: float | None = None
    ) -> tuple[Receipt, Lease | None]:
        """Do `answer`, then `claim` unless it is refused, in one transaction, which waits for the disk only once."""

        def turn(connection: Connection) -> tuple[Receipt, Lease | None]:
            desk = self._desk(connection, annotator)
            return desk.submit(task, answer, started or 0.0), self._claimed(desk)

        return self._patiently(turn)

    def undo(self, annotator: int, seen: int, count: int = 1) -> list[Lease]:
        """Withdraw an annotator's last answers, all or none. They hold the tasks again, returned by number.

        `seen` is their last judgement when they asked (`Progress.judgement`), so a repeated request is done once.

        Raises:
            RefusedError: there are fewer answers, the last judgement is another one by now, a curator has decided, or
                a task belongs to the training phase.
        """
        with self._database.writing() as connection:
            return self._desk(connection, annotator).withdraw(seen, count)

    def mark(self, annotator: int, tasks: Sequence[AnnotationTask], answer: Answer) -> list[bool]:
        """Answer tasks of a concordance, which are added if they are new.

        Return for each task whether the answer stands now; it does not if somebody else was first, who may change
        their mind. Raises RefusedError for a task of another purpose, or an answer that does not fit.
        """
        with self._database.writing() as connection:
            put_tasks(connection, tasks, self.settings)
            numbers = [question.id for question in look_up(connection, tasks) if question]
            return self._desk(connection, annotator).mark(numbers, answer)

    def task(self, number: int) -> Asked | None:
        """Return one task."""
        with self._database.reading() as connection:
            return read(connection, number)

    def tasks(self, status: Status, purpose: Purpose = Purpose.REAL, after: int = 0, limit: int = MANY) -> list[Asked]:
        """Return tasks of a status with numbers above `after`, by number. `DROPPED` ones are for the curator."""
        wanted = (tasks.c.status == status) & (tasks.c.purpose == purpose) & (tasks.c.id > after)
        with self._database.reading() as connection:
            return [asked(row) for row in connection.execute(ASKED.where(wanted).order_by(tasks.c.id).limit(limit))]

    def task_pages(self, status: Status, size: int = MANY) -> Iterator[list[Asked]]:
        """Yield all real tasks of a status, by number, `size` at a time; others may change them between two pages."""
        after = 0
        while page := self.tasks(status, after=after, limit=size):
            yield page
            after = page[-1].id

    def look_up(self, wanted: Sequence[AnnotationTask]) -> list[Asked | None]:
        """Return the tasks as they are in the store; `None` for those it does not have."""
        with self._database.reading() as connection:
            return look_up(connection, wanted)

    def counts(self) -> dict[tuple[Purpose, Status], int]:
        """Return the number of tasks by purpose and status."""
        counted = select(tasks.c.purpose, tasks.c.status, func.count()).group_by(tasks.c.purpose, tasks.c.status)
        with self._database.reading() as connection:
            rows = connection.execute(counted).all()
        return {(Purpose(purpose), Status(status)): number for purpose, status, number in rows}

    def add_labels(self, guideline: str, notes: Mapping[str, str]) -> int:
        """Add the labels that are new to a guideline, each with a note for annotators, and return their number."""
        with self._database.writing() as connection:
            first = len(labels_of(connection, guideline))
            rows = [
                {"guideline": guideline, "label": label, "note": note, "rank": rank}
                for rank, (label, note) in enumerate(notes.items(), first)
            ]
            count = insert_new(connection, labels, rows)
        self._labels.clear()
        return count

    def guidelines(self) -> list[str]:
        """Return the guidelines that have labels, by name."""
        chosen = select(labels.c.guideline).distinct().order_by(labels.c.guideline)
        with self._database.reading() as connection:
            return list(connection.execute(chosen).scalars())

    def task_guidelines(self) -> list[str]:
        """Return the guidelines of all tasks, by name."""
        with self._database.reading() as connection:
            return list(connection.execute(select(tasks.c.guideline).distinct().order_by(tasks.c.guideline)).scalars())

    def labels(self, guideline: str) -> dict[str, str]:
        """Return the labels of a guideline and their notes, in the order in which they were added.

        Labels that another process adds appear some seconds later.
        """
        when, notes = self._labels.get(guideline, (-_FRESH, {}))
        if time.monotonic() - when >= _FRESH:
            when = time.monotonic()
            with self._database.reading() as connection:
                notes = labels_of(connection, guideline)
            self._labels[guideline] = when, notes
        return notes

    def change_note(self, guideline: str, label: str, note: str) -> None:
        """Change the note of a label."""
        this = (labels.c.guideline == guideline) & (labels.c.label == label)
        with self._database.writing() as connection:
            connection.execute(update(labels).where(this).values(note=note))
        self._labels.clear()

    def add_model(self, path: str, judgement: int, minutes: float, accuracy: float | None = None) -> int:
        """Add a model trained on the judgements up to `judgement`, made in `minutes`; return its version."""
        row = {"path": path, "judgement": judgement, "minutes": minutes, "accuracy": accuracy}
        new = insert(models).values(**row, trained=self._clock()).returning(models.c.version)
        with self._database.writing() as connection:
            return int(connection.execute(new).scalar_one())

    def measured(self, version: int, judgement: int, minutes: float, accuracy: float | None) -> None:
        """Store what a model that was added before turned out to be; the arguments are those of `add_model`."""
        new = {"judgement": judgement, "minutes": minutes, "accuracy": accuracy}
        with self._database.writing() as connection:
            connection.execute(update(models).where(models.c.version == version).values(**new))

    def models(self) -> list[ModelVersion]:
        """Return all models, the oldest first."""
        with self._database.reading() as connection:
            return [ModelVersion(*row) for row in connection.execute(select(models).order_by(models.c.version))]

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

    def progress(self, annotator: int) -> Progress:
        """Return how much an annotator has done: the progress known so far, plus the judgements since.

        Counting all of them on each page would get ever slower. The judgements of one annotator are numbered in the
        order in which they are committed, because each waits for the lock on the annotator's row.
        """
        progress = self._progress.get(annotator, Progress())
        with self._database.reading() as connection:
            *changes, last = connection.execute(_SINCE, {"annotator": annotator, "after": progress.judgement}).one()
        if last is not None:
            answers, seconds, gold, right = (old + new for old, new in zip(progress, changes, strict=False))
            progress = Progress(answers, seconds, gold, right, last)
            self._progress[annotator] = progress
        return progress

    def training_results(self, annotator: int) -> list[bool]:
        """Return whether each of an annotator's answers to simulated tasks was right, by time."""
        with self._database.reading() as connection:
            return results(connection, annotator)

    def _desk(self, connection: Connection, annotator: int) -> Desk:
        return Desk(connection, annotator, self._clock(), self.settings, self._random)

    def _claimed(self, desk: Desk) -> Lease | None:
        """Claim a task. Only here are lapsed leases freed, which locks their tasks: a claim waits for no other task."""
        if desk.now - self._freed >= _LAPSES:
            free_lapsed(desk.connection, desk.now)
            self._freed = desk.now
        return desk.claim()

    def _patiently(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction; try again while others are taking the tasks that are left."""
        while True:
            try:
                with self._database.writing() as connection:
                    return work(connection)
            except ContendedError:
                time.sleep(self._random.uniform(0.0, 0.01))


_NAMED, _NUMBERED = (
    select(annotators).where(column == bindparam("who")) for column in (annotators.c.name, annotators.c.id)
)


def _find(connection: Connection, who: int | str) -> Annotator | None:
    """Return the annotator with a number or a name. No name contains NUL, which PostgreSQL would reject."""
    if isinstance(who, str) and "\0" in who:
        return None
    row = connection.execute(_NAMED if isinstance(who, str) else _NUMBERED, {"who": who}).one_or_none()
    return None if row is None else Annotator(*row)


def _end_sessions(connection: Connection, number: int, **changes: str | None) -> None:
    epoch = annotators.c.session_epoch + 1
    connection.execute(update(annotators).where(annotators.c.id == number).values(session_epoch=epoch, **changes))


def _is_valid(token: str, now: float) -> ColumnElement[bool]:
    return (invitations.c.digest == _digest(token)) & invitations.c.used.is_(None) & (invitations.c.expires > now)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def standing(judged: Iterable[Judgement]) -> list[Judgement]:
    """Return the last judgement of each annotator of one task that was not withdrawn; `judged` are by number."""
    last = {judgement.annotator: judgement for judgement in judged}
    return [judgement for judgement in last.values() if not judgement.withdrawn]


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
    judged = []
    mine = judgements.c
    for row in connection.execute(chosen):
        of = row._mapping
        before = of[mine.id], asked(row), of[annotators.c.name], of[mine.revision], of[mine.withdrawn], of[mine.slot]
        answer, shown = answer_of(of[mine.kind], of[mine.label]), candidates_of(of[mine.candidates])
        judged.append(Judgement(*before, answer, shown, of[mine.model], of[mine.started], of[mine.ended]))
    return judged
