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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select, update

from tagweave.annotate import database, slots
from tagweave.annotate.assignment import ContendedError, Desk, Lease, Receipt
from tagweave.annotate.database import Database, annotators, insert_new, invitations, prepare
from tagweave.annotate.questions import Questions, look_up, put_tasks, rank
from tagweave.annotate.record import OpenPosterior, Records, most_gain
from tagweave.annotate.reliability import LearnedConfusions, Reliable, reliabilities
from tagweave.annotate.task import AnnotationTask, Answer, Ranking, Settings, Status

T = TypeVar("T")


ROLES = ("annotator", "curator")
LONGEST = 200
"""Characters of a name: PostgreSQL cannot look up thousands."""

_LAPSES = 1.0  # seconds between two looks for lapsed leases


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


class Store(Questions, Records):
    """A store. `Store.open` makes one."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], float], seed: int | None) -> None:
        super().__init__(database, clock)
        self.settings, self._random, self._confusions = settings, random.Random(seed), LearnedConfusions()
        self._freed = -inf  # when lapsed leases were last looked for

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
        settings = self._settings()
        with self._database.writing() as connection:
            return put_tasks(connection, tasks, settings)

    def rank(self, model: int, rankings: Iterable[Ranking]) -> int:
        """Give open tasks the uncertainty and candidates of a newer model, and return their number."""
        settings = self._settings()
        with self._database.writing() as connection:
            return rank(connection, model, rankings, settings)

    def claim(self, annotator: int) -> Lease | None:
        """Return the task that an annotator holds, or else a new one; `None` if nothing is left for them."""
        settings = self._settings()
        return self._patiently(lambda connection: self._claimed(self._desk(connection, annotator, settings)))

    def answer(self, annotator: int, task: int, answer: Answer, started: float | None = None) -> Receipt:
        """Take an answer to a claimed task. Giving the same answer again changes nothing.

        `started` is when the task was shown; the time of its claim if that is unknown or earlier.

        Raises:
            RefusedError: the task was never or is no longer theirs, or has another answer; or the label is unknown.
        """
        settings = self._settings(1)
        with self._database.writing() as connection:
            return self._desk(connection, annotator, settings).submit(task, answer, started or 0.0)

    def answer_and_claim(
        self, annotator: int, task: int, answer: Answer, started: float | None = None
    ) -> tuple[Receipt, Lease | None]:
        """Do `answer`, then `claim` unless it is refused, in one transaction, which waits for the disk only once."""
        settings = self._settings(1)

        def turn(connection: Connection) -> tuple[Receipt, Lease | None]:
            desk = self._desk(connection, annotator, settings)
            return desk.submit(task, answer, started or 0.0), self._claimed(desk)

        return self._patiently(turn)

    def judge_again(self) -> None:
        """Judge all open tasks again if posteriors decide: the rule may have changed, and more may be known."""
        settings = self._settings()
        if settings.posterior is not None:
            for page in self.task_pages(Status.OPEN):
                with self._database.writing() as connection:
                    for each in page:
                        slots.settle_again(connection, each.id, self._clock(), settings)

    def undo(self, annotator: int, seen: int, count: int = 1) -> list[Lease]:
        """Withdraw an annotator's last answers, all or none. They hold the tasks again, returned by number.

        `seen` is their last judgement when they asked (`Progress.judgement`), so a repeated request is done once.

        Raises:
            RefusedError: there are fewer answers, the last judgement is another one by now, a curator has decided, or
                a task belongs to the training phase.
        """
        settings = self._settings(count)
        with self._database.writing() as connection:
            return self._desk(connection, annotator, settings).withdraw(seen, count)

    def mark(self, annotator: int, tasks: Sequence[AnnotationTask], answer: Answer) -> list[bool]:
        """Answer tasks of a concordance, which are added if they are new.

        Return for each task whether the answer stands now; it does not if somebody else was first, who may change
        their mind. Raises RefusedError for a task of another purpose, or an answer that does not fit.
        """
        with self._database.writing() as connection:
            put_tasks(connection, tasks, self.settings)
            numbers = [each.id for each in look_up(connection, tasks) if each]
            return self._desk(connection, annotator, self.settings).mark(numbers, answer)

    def reliabilities(self) -> list[Reliable]:
        """Return how reliable annotators of labels are, learned from all answers and from planted gold."""
        return reliabilities(self.answered(), {each.id: each.name for each in self.annotators()})

    def most_gain(self, count: int) -> list[OpenPosterior]:
        """Return at most `count` open tasks whose next answer is expected to gain most; none if votes decide."""
        rule = self._settings().posterior
        if rule is None:
            return []
        with self._database.reading() as connection:
            return most_gain(connection, rule, count)

    def _settings(self, changes: int = 0) -> Settings:
        """Return the settings, with the estimated reliability of annotators; `changes` answers are about to change."""
        if self.settings.posterior is None:
            return self.settings
        people = self._confusions.confusions(self.answered, changes)
        return replace(self.settings, posterior=replace(self.settings.posterior, people=people))

    def _desk(self, connection: Connection, annotator: int, settings: Settings) -> Desk:
        return Desk(connection, annotator, self._clock(), settings, self._random)

    def _claimed(self, desk: Desk) -> Lease | None:
        """Claim a task. Only here are lapsed leases freed, which locks their tasks: a claim waits for no other task."""
        if desk.now - self._freed >= _LAPSES:
            slots.free_lapsed(desk.connection, desk.now)
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
