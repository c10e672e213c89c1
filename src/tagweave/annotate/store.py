"""The store of an annotation server, in SQLite or PostgreSQL.

    store = Store.open("sqlite:///answers.db")
    store.add_annotator("name")
    store.add_tasks([AnnotationTask(sentence, 3, 4, "ctb", (Candidate("NN", 0.6), Candidate("VV", 0.4)))])
    lease = store.claim(annotator.id)
    store.answer(annotator.id, lease.task_id, label("NN"))

Every method is one transaction. A method that writes returns once its transaction is on disk, so its result survives a
crash of the process or the machine. Several threads and processes may use a store at once. Numbers (of tasks,
annotators, sentences) are those of the store; times are seconds since 1970, UTC.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Connection, insert, select

from tagweave.annotate import assignment, opening, people, progress, questions, record, schema, slots, training_phase
from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import ContendedError, Lease, Receipt
from tagweave.annotate.confusions import Confusions
from tagweave.annotate.database import Database, insert_new
from tagweave.annotate.people import Annotator
from tagweave.annotate.posterior import Posterior
from tagweave.annotate.progress import Progress
from tagweave.annotate.questions import Asked, ModelVersion, Ranking
from tagweave.annotate.record import Judgement, OpenPosterior, Vote
from tagweave.annotate.reliability import Answered, LearnedConfusions, Reliable, confusions, reliabilities
from tagweave.annotate.settings import Settings
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Purpose

_PAGE = 500  # rows read at a time
_FRESH = 10.0  # seconds for which labels are cached: every page of tasks shows them all
T = TypeVar("T")


class Store:
    """See the module. `Store.open` makes one."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], float], seed: int | None) -> None:
        self.settings, self._database, self._clock, self._random = settings, database, clock, random.Random(seed)
        self._progress: dict[int, Progress] = {}
        self._labels: dict[str, tuple[float, dict[str, str]]] = {}
        self._people = LearnedConfusions()

    @classmethod
    def open(
        cls,
        url: str,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        seed: int | None = None,
    ) -> Store:
        """Open the store at a URL, or create it if it does not exist.

        Args:
            url: `sqlite:///PATH` or `postgresql://...`.
            settings: how many annotators a task has, leases, admission.
            clock: seconds since 1970, UTC.
            seed: decides who gets which task; `None` draws a new one each time.

        Raises:
            ValueError: another kind of URL, a store of another version of tagweave, or tables of another program.
            OSError: an SQLite file that cannot be created.
        """
        database = Database(url)
        try:
            opening.prepare(database)
        except BaseException:
            database.close()
            raise
        return cls(database, settings or Settings(), clock, seed)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def keep(self, name: str, make: Callable[[], str]) -> str:
        """A value that is created once and then stays the same for all, such as the key that signs cookies."""
        column = schema.values.c.value
        with self._database.writing() as connection:
            chosen = select(column).where(schema.values.c.name == name)
            if (value := connection.execute(chosen).scalar_one_or_none()) is None:
                insert_new(connection, schema.values, [{"name": name, "value": make()}])
                value = connection.execute(chosen).scalar_one()
            return str(value)

    # people

    def add_annotator(self, name: str, role: str = "annotator", password_hash: str | None = None) -> Annotator:
        """Add a person with the role `annotator` or `curator`.

        Curators are admitted at once. The settings say whether annotators go through a training phase.

        Raises:
            ValueError: a name that is in use or unprintable, or an unknown role.
        """
        with self._database.writing() as connection:
            number = people.add(connection, name, role, password_hash, self._clock(), role == "curator")
            added = people.numbered(connection, number)
        assert added is not None  # noqa: S101
        return added

    def annotator(self, who: int | str) -> Annotator | None:
        """The annotator with a number or a name."""
        with self._database.reading() as connection:
            return people.numbered(connection, who) if isinstance(who, int) else people.named(connection, who)

    def annotators(self) -> list[Annotator]:
        """All annotators and curators, by name."""
        with self._database.reading() as connection:
            return people.everybody(connection)

    def change_password(self, annotator: int, password_hash: str | None) -> None:
        """Change a password, and end all sessions by a new `session_epoch`."""
        with self._database.writing() as connection:
            people.change_password(connection, annotator, password_hash)

    def end_sessions(self, annotator: int) -> None:
        """End all sessions of an annotator, by a new `session_epoch`."""
        with self._database.writing() as connection:
            people.end_sessions(connection, annotator)

    def admit(self, annotator: int) -> None:
        """Admit an annotator, whatever their results in training."""
        with self._database.writing() as connection:
            people.admit(connection, annotator, self._clock())

    def invite(self, annotator: int, token: str, seconds: float) -> None:
        """Let a token sign an annotator in, once, within so many seconds; the store keeps a digest of it."""
        with self._database.writing() as connection:
            people.invite(connection, annotator, token, self._clock() + seconds)

    def is_invited(self, token: str) -> bool:
        """Whether a token is valid now; it may be used up by somebody else before it is redeemed."""
        with self._database.reading() as connection:
            return people.is_invited(connection, token, self._clock())

    def redeem(self, token: str, password_hash: str) -> Annotator | None:
        """Use up a token and set its annotator's password; `None` if the token is unknown, used or too old."""
        with self._database.writing() as connection:
            return people.redeem(connection, token, password_hash, self._clock())

    # questions

    def add_tasks(self, tasks: Iterable[AnnotationTask]) -> int:
        """Add the tasks that are new, and return their number."""
        settings = self._settings()
        with self._database.writing() as connection:
            return questions.put_tasks(connection, tasks, settings)

    def rank(self, model: int, rankings: Iterable[Ranking]) -> int:
        """Give open tasks the uncertainty and candidates of a newer model, and return their number."""
        settings = self._settings()
        with self._database.writing() as connection:
            return questions.rank(connection, model, rankings, settings)

    def task(self, number: int) -> Asked | None:
        """One task."""
        with self._database.reading() as connection:
            return questions.read(connection, number)

    def tasks(self, status: Status, purpose: Purpose = Purpose.REAL, after: int = 0, limit: int = _PAGE) -> list[Asked]:
        """Tasks of a status with numbers above `after`, by number. `DROPPED` ones are for the curator."""
        with self._database.reading() as connection:
            return questions.read_all(connection, status, purpose, after, limit)

    def task_pages(self, status: Status, size: int = _PAGE) -> Iterator[list[Asked]]:
        """All real tasks of a status, by number, `size` at a time; others may change them between two pages."""
        after = 0
        while page := self.tasks(status, after=after, limit=size):
            yield page
            after = page[-1].id

    def look_up(self, tasks: Sequence[AnnotationTask]) -> list[Asked | None]:
        """The tasks as they are in the store; `None` for those it does not have."""
        with self._database.reading() as connection:
            return questions.look_up(connection, tasks)

    def counts(self) -> dict[tuple[Purpose, Status], int]:
        """The number of tasks by purpose and status."""
        with self._database.reading() as connection:
            return questions.count(connection)

    def add_labels(self, guideline: str, notes: Mapping[str, str]) -> int:
        """Add the labels that are new to a guideline, each with a note for annotators, and return their number."""
        with self._database.writing() as connection:
            count = questions.put_labels(connection, guideline, notes)
        self._labels.clear()
        return count

    def guidelines(self) -> list[str]:
        """The guidelines that have labels, by name."""
        with self._database.reading() as connection:
            return questions.guidelines(connection)

    def labels(self, guideline: str) -> dict[str, str]:
        """The labels of a guideline and their notes, in the order in which they were added.

        Labels that another process adds appear some seconds later.
        """
        when, notes = self._labels.get(guideline, (-_FRESH, {}))
        if time.monotonic() - when >= _FRESH:
            when = time.monotonic()
            with self._database.reading() as connection:
                notes = questions.read_labels(connection, guideline)
            self._labels[guideline] = when, notes
        return notes

    def change_note(self, guideline: str, label: str, note: str) -> None:
        """Change the note of a label."""
        with self._database.writing() as connection:
            questions.put_note(connection, guideline, label, note)
        self._labels.clear()

    # answers

    def claim(self, annotator: int) -> Lease | None:
        """The task that an annotator holds, or else a new one; `None` if nothing is left for them.

        Raises:
            RefusedError: no such annotator.
        """
        settings = self._settings()
        return self._patiently(
            lambda connection: assignment.claim(connection, annotator, self._clock(), settings, self._random)
        )

    def answer(self, annotator: int, task: int, answer: Answer, started: float | None = None) -> Receipt:
        """Take an answer to a claimed task. Giving the same answer again changes nothing.

        Args:
            annotator: number of the annotator.
            task: number of the task.
            answer: the answer.
            started: when the task was shown; if that is unknown or earlier than its claim, the time of the claim.

        Raises:
            RefusedError: the task was never or is no longer theirs, or has another answer; or the label is unknown.
        """
        settings = self._settings(1)
        with self._database.writing() as connection:
            now = self._clock()
            return assignment.submit(connection, annotator, task, answer, started or 0.0, now, settings)

    def answer_and_claim(
        self, annotator: int, task: int, answer: Answer, started: float | None = None
    ) -> tuple[Receipt, Lease | None]:
        """`answer` and then `claim` in one transaction, which waits for the disk only once.

        Raises:
            RefusedError: as `answer`; nothing is claimed.
        """
        given, settings = (annotator, task, answer, started or 0.0), self._settings(1)
        return self._patiently(
            lambda connection: assignment.turn(connection, *given, self._clock(), settings, self._random)
        )

    def _patiently(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction; try again while others are taking the tasks that are left."""
        while True:
            try:
                with self._database.writing() as connection:
                    return work(connection)
            except ContendedError:
                time.sleep(self._random.uniform(0.0, 0.01))

    def judge_again(self) -> None:
        """Judge all open tasks by posteriors, if these decide: another rule may have asked, and more may be known."""
        settings = self._settings()
        if settings.posterior is not None:
            for page in self.task_pages(Status.OPEN):
                with self._database.writing() as connection:
                    for each in page:
                        slots.settle_again(connection, each.id, self._clock(), settings)

    def undo(self, annotator: int, seen: int, count: int = 1) -> list[Lease]:
        """Withdraw an annotator's last answers, all or none. They hold the tasks again, returned by number.

        Args:
            annotator: number of the annotator.
            seen: their last judgement when they asked (`Progress.judgement`), so that a repeated request is done once.
            count: how many answers.

        Raises:
            RefusedError: there are fewer answers, the last judgement is another one by now, a curator has decided, or
                a task belongs to the training phase.
        """
        settings = self._settings(count)
        with self._database.writing() as connection:
            return assignment.withdraw(connection, annotator, seen, count, self._clock(), settings)

    def mark(self, annotator: int, tasks: Sequence[AnnotationTask], answer: Answer) -> list[bool]:
        """Answer tasks of a concordance, which are added if they are new.

        Returns:
            For each task whether the answer stands now; it does not if somebody else was first.

        Raises:
            RefusedError: a task of another purpose, or an answer that does not fit it.
        """
        with self._database.writing() as connection:
            questions.put_tasks(connection, tasks, self.settings)
            numbers = questions.numbers(connection, tasks)
            return assignment.mark(connection, annotator, numbers, answer, self._clock(), self.settings)

    def _settings(self, changes: int = 0) -> Settings:
        """The settings, with what is known by now of how annotators answer; `changes` answers are about to change."""
        if self.settings.posterior is None:
            return self.settings
        people = self._people.confusions(self.answered, changes)
        return replace(self.settings, posterior=replace(self.settings.posterior, people=people))

    def adjudicate(self, curator: int, task: int, answer: Answer) -> None:
        """Record a curator's decision on a task; the last decision stands.

        Raises:
            RefusedError: not a curator, or no such task.
        """
        with self._database.writing() as connection:
            record.adjudicate(connection, curator, task, answer, self._clock())

    # results

    def last_judgement(self) -> int:
        """The number of the last judgement, 0 if there is none."""
        with self._database.reading() as connection:
            return record.last(connection)

    def judgements(self, after: int = 0) -> Iterator[Judgement]:
        """All judgements with numbers above `after`, by number, including withdrawn ones; read in pages."""
        while True:
            with self._database.reading() as connection:
                page = record.read(connection, after, _PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].id

    def judgements_of(self, task: int) -> list[Judgement]:
        """All judgements of a task, by number."""
        with self._database.reading() as connection:
            return record.of_task(connection, task)

    def outcomes(self, guideline: str) -> list[Asked]:
        """All tasks of a guideline whose answer is known, by location: the training data."""
        with self._database.reading() as connection:
            return record.outcomes(connection, guideline)

    def votes(self, purpose: Purpose = Purpose.REAL, asks: Asks = Asks.LABEL) -> list[Vote]:
        """All standing answers to tasks of a purpose that ask for this, from which agreement is computed."""
        with self._database.reading() as connection:
            return record.votes(connection, purpose, asks)

    def answered(self) -> list[Answered]:
        """All tasks of labels with standing answers, from which reliability is learned."""
        with self._database.reading() as connection:
            return record.answered(connection)

    def reliabilities(self) -> list[Reliable]:
        """How reliable annotators of tasks of labels are, learned from all answers and from planted gold."""
        names = {each.id: each.name for each in self.annotators()}
        return reliabilities(self.answered(), names)

    def most_gain(self, count: int) -> list[OpenPosterior]:
        """Open tasks of which another answer is expected to gain most, at most `count`; none if votes decide."""
        rule = self._settings().posterior
        if rule is None:
            return []
        with self._database.reading() as connection:
            return record.most_gain(connection, rule, count)

    def posteriors(self, guideline: str) -> list[tuple[Asked, Posterior]]:
        """All tasks of labels of a guideline with answers, by location, and what is probably right by all answers."""
        people = confusions(self.answered()).get(guideline, Confusions())
        with self._database.reading() as connection:
            return record.posteriors(connection, guideline, people)

    def progress(self, annotator: int) -> Progress:
        """How much an annotator has done."""
        with self._database.reading() as connection:
            current = progress.read(connection, annotator, self._progress.get(annotator, Progress()))
        self._progress[annotator] = current
        return current

    def training_results(self, annotator: int) -> list[bool]:
        """Whether each of an annotator's answers to simulated tasks was right, by time."""
        with self._database.reading() as connection:
            return training_phase.results(connection, annotator)

    def add_model(self, path: str, judgement: int, minutes: float, accuracy: float | None = None) -> int:
        """Add a model trained on all judgements up to `judgement`, made in `minutes` of annotation; its version."""
        row = {"path": path, "judgement": judgement, "minutes": minutes, "accuracy": accuracy}
        with self._database.writing() as connection:
            added = connection.execute(
                insert(schema.models).values(**row, trained=self._clock()).returning(schema.models.c.version)
            )
            return int(added.scalar_one())

    def models(self) -> list[ModelVersion]:
        """All models, the oldest first."""
        with self._database.reading() as connection:
            return questions.read_models(connection)
