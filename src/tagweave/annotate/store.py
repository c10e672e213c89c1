"""Everything that an annotation server keeps, in SQLite or PostgreSQL.

    store = Store.open("sqlite:///answers.db")
    store.add_annotator("name")
    store.add_tasks([AnnotationTask(sentence, 3, 4, "ctb", (Candidate("NN", 0.6), Candidate("VV", 0.4)))])
    lease = store.claim(annotator.id)
    store.answer(annotator.id, lease.task_id, label("NN"))

Every method is one transaction. One that writes returns when its transaction is on the disk, so what it returned
survives the end of the process and of the machine. A store may be used from several threads and processes at once.
Numbers of things are those of the store; times are seconds since 1970, UTC.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Connection, insert, select

from tagweave.annotate import assignment, opening, people, progress, questions, record, schema, training_phase
from tagweave.annotate.aggregation import Status
from tagweave.annotate.assignment import ContendedError, Lease, Receipt
from tagweave.annotate.database import Database, insert_new
from tagweave.annotate.people import Annotator
from tagweave.annotate.progress import Progress
from tagweave.annotate.questions import Asked, Model, Ranking
from tagweave.annotate.record import Judgement, Vote
from tagweave.annotate.settings import Settings
from tagweave.annotate.task import AnnotationTask, Answer, Purpose
from tagweave.corpus.sentence import Sentence

_PAGE = 500  # rows that are read at a time
_FRESH = 10.0  # seconds for which labels are kept: every page of tasks shows them all
T = TypeVar("T")


class Store:
    """See the module. `Store.open` makes one."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], float], seed: int | None) -> None:
        self.settings, self._database, self._clock, self._random = settings, database, clock, random.Random(seed)
        self._progress: dict[int, Progress] = {}
        self._labels: dict[str, tuple[float, dict[str, str]]] = {}

    @classmethod
    def open(
        cls,
        url: str,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        seed: int | None = None,
    ) -> Store:
        """The store of a URL, which is made where it does not exist.

        Args:
            url: `sqlite:///PATH` or `postgresql://...`.
            settings: how many annotators a task has, leases, admission.
            clock: seconds since 1970, UTC.
            seed: of who gets what; different each time where it is `None`.

        Raises:
            ValueError: another kind of URL, a store of another version of tagweave, or tables of another program.
            OSError: an SQLite file that cannot be made.
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
        """A value that is made once, the same for all: a key that signs cookies."""
        column = schema.values.c.value
        with self._database.writing() as connection:
            chosen = select(column).where(schema.values.c.name == name)
            if (value := connection.execute(chosen).scalar_one_or_none()) is None:
                insert_new(connection, schema.values, [{"name": name, "value": make()}])
                value = connection.execute(chosen).scalar_one()
            return str(value)

    # people

    def add_annotator(self, name: str, role: str = "annotator", password_hash: str | None = None) -> Annotator:
        """Somebody new, of the role `annotator` or `curator`.

        Curators are admitted. Of all others the settings of who hands out tasks say whether there is a training phase.

        Raises:
            ValueError: a name that is in use or not printable, or an unknown role.
        """
        with self._database.writing() as connection:
            number = people.add(connection, name, role, password_hash, self._clock(), role == "curator")
            added = people.numbered(connection, number)
        assert added is not None  # noqa: S101
        return added

    def annotator(self, who: int | str) -> Annotator | None:
        """The annotator of a number or a name."""
        with self._database.reading() as connection:
            return people.numbered(connection, who) if isinstance(who, int) else people.named(connection, who)

    def annotators(self) -> list[Annotator]:
        """All of them, by name."""
        with self._database.reading() as connection:
            return people.everybody(connection)

    def change_password(self, annotator: int, password_hash: str | None) -> None:
        """Another password; ends all sessions, by a new `session_epoch`."""
        with self._database.writing() as connection:
            people.change_password(connection, annotator, password_hash)

    def end_sessions(self, annotator: int) -> None:
        """End all sessions of somebody, by a new `session_epoch`."""
        with self._database.writing() as connection:
            people.end_sessions(connection, annotator)

    def admit(self, annotator: int) -> None:
        """Admit somebody, whatever their training says."""
        with self._database.writing() as connection:
            people.admit(connection, annotator, self._clock())

    def invite(self, annotator: int, token: str, seconds: float) -> None:
        """Let a token in as somebody, once, for so many seconds; the store keeps a digest of it."""
        with self._database.writing() as connection:
            people.invite(connection, annotator, token, self._clock() + seconds)

    def is_invited(self, token: str) -> bool:
        """Whether a token would let somebody in; it may be used up before it does."""
        with self._database.reading() as connection:
            return people.is_invited(connection, token, self._clock())

    def redeem(self, token: str, password_hash: str) -> Annotator | None:
        """Whom a token lets in, with their new password; `None` where it is unknown, used or too old."""
        with self._database.writing() as connection:
            return people.redeem(connection, token, password_hash, self._clock())

    # questions

    def add_sentences(self, sentences: Sequence[Sentence]) -> list[int]:
        """The numbers of sentences, put in where they are new."""
        with self._database.writing() as connection:
            return questions.put_sentences(connection, sentences)

    def add_tasks(self, tasks: Iterable[AnnotationTask]) -> int:
        """Put in tasks that are new; how many those were."""
        with self._database.writing() as connection:
            return questions.put_tasks(connection, tasks, self.settings.rule)

    def rank(self, model: int, rankings: Iterable[Ranking]) -> int:
        """Give open tasks the uncertainty and candidates of a newer model; how many those were."""
        with self._database.writing() as connection:
            return questions.rank(connection, model, rankings)

    def task(self, number: int) -> Asked | None:
        """One task."""
        with self._database.reading() as connection:
            return questions.read(connection, number)

    def tasks(self, status: Status, purpose: Purpose = Purpose.REAL, after: int = 0, limit: int = _PAGE) -> list[Asked]:
        """Tasks of a status with numbers above `after`, by number: `DROPPED` ones are for the curator."""
        with self._database.reading() as connection:
            return questions.read_all(connection, status, purpose, after, limit)

    def task_pages(self, status: Status, size: int = _PAGE) -> Iterator[list[Asked]]:
        """All real tasks of a status, by number, so many at a time; others may change them between two pages."""
        after = 0
        while page := self.tasks(status, after=after, limit=size):
            yield page
            after = page[-1].id

    def found(self, tasks: Sequence[AnnotationTask]) -> list[Asked | None]:
        """Tasks as they are in the store; `None` for those that it does not have."""
        with self._database.reading() as connection:
            return questions.found(connection, tasks)

    def counts(self) -> dict[tuple[Purpose, Status], int]:
        """How many tasks there are."""
        with self._database.reading() as connection:
            return questions.count(connection)

    def add_labels(self, guideline: str, notes: Mapping[str, str]) -> int:
        """Put in labels of a guideline that are new, each with a note for annotators; how many those were."""
        with self._database.writing() as connection:
            count = questions.put_labels(connection, guideline, notes)
        self._labels.clear()
        return count

    def guidelines(self) -> list[str]:
        """The guidelines that have labels, by name."""
        with self._database.reading() as connection:
            return questions.guidelines(connection)

    def labels(self, guideline: str) -> dict[str, str]:
        """The labels of a guideline, in the order in which they were put in, and their notes.

        What another process puts in is seen some seconds later.
        """
        when, found = self._labels.get(guideline, (-_FRESH, {}))
        if time.monotonic() - when >= _FRESH:
            when = time.monotonic()
            with self._database.reading() as connection:
                found = questions.read_labels(connection, guideline)
            self._labels[guideline] = when, found
        return found

    def change_note(self, guideline: str, label: str, note: str) -> None:
        """Another note of a label."""
        with self._database.writing() as connection:
            questions.put_note(connection, guideline, label, note)
        self._labels.clear()

    # answers

    def claim(self, annotator: int) -> Lease | None:
        """The task that somebody holds, else a new one; `None` where nothing is left for them.

        Raises:
            RefusedError: no such annotator.
        """
        return self._patiently(
            lambda connection: assignment.claim(connection, annotator, self._clock(), self.settings, self._random)
        )

    def answer(self, annotator: int, task: int, answer: Answer, started: float | None = None) -> Receipt:
        """Take an answer to a task that was claimed. The same answer again changes nothing.

        Args:
            annotator: number of who answers.
            task: its number.
            answer: what is said.
            started: when it was shown; when it was claimed, where that is unknown or later.

        Raises:
            RefusedError: the task is not theirs, not theirs any more, or answered otherwise, or the label unknown.
        """
        with self._database.writing() as connection:
            now = self._clock()
            return assignment.submit(connection, annotator, task, answer, started or 0.0, now, self.settings)

    def answer_and_claim(
        self, annotator: int, task: int, answer: Answer, started: float | None = None
    ) -> tuple[Receipt, Lease | None]:
        """`answer` and then `claim`, in one transaction: the disk is waited for once.

        Raises:
            RefusedError: as `answer`; nothing is claimed.
        """

        said = annotator, task, answer, started or 0.0
        return self._patiently(
            lambda connection: assignment.turn(connection, *said, self._clock(), self.settings, self._random)
        )

    def _patiently(self, work: Callable[[Connection], T]) -> T:
        """Do it in a transaction, again where others were taking the tasks that are left."""
        while True:
            try:
                with self._database.writing() as connection:
                    return work(connection)
            except ContendedError:
                time.sleep(self._random.uniform(0.0, 0.01))

    def undo(self, annotator: int, seen: int, count: int = 1) -> list[Lease]:
        """Withdraw the last answers of somebody, all or none; they hold their tasks again, by number.

        Args:
            annotator: number of who undoes.
            seen: their last judgement when they said so (`Progress.judgement`): what is said twice is done once.
            count: how many answers.

        Raises:
            RefusedError: there are fewer, their last judgement is another one by now, a curator has decided, or it
                was of the training phase.
        """
        with self._database.writing() as connection:
            return assignment.withdraw(connection, annotator, seen, count, self._clock(), self.settings)

    def mark(self, annotator: int, tasks: Sequence[AnnotationTask], answer: Answer) -> list[bool]:
        """Answer tasks of a concordance, put in where they are new; of each, whether the answer stands now.

        It does not where somebody else was first.

        Raises:
            RefusedError: a task of another purpose, or an answer that does not suit it.
        """
        with self._database.writing() as connection:
            questions.put_tasks(connection, tasks, self.settings.rule)
            numbers = questions.numbers(connection, tasks)
            return assignment.mark(connection, annotator, numbers, answer, self._clock(), self.settings)

    def adjudicate(self, curator: int, task: int, answer: Answer) -> None:
        """A curator decides on a task; the last decision stands.

        Raises:
            RefusedError: not a curator, or no such task.
        """
        with self._database.writing() as connection:
            record.adjudicate(connection, curator, task, answer, self._clock())

    # what came of it

    def last_judgement(self) -> int:
        """The number of the last judgement, 0 where there is none."""
        with self._database.reading() as connection:
            return record.last(connection)

    def judgements(self, after: int = 0) -> Iterator[Judgement]:
        """All judgements with numbers above `after`, by number, withdrawn ones, too; read in pages."""
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
        """All tasks of a guideline whose answer is known, by place in the corpus: what there is to learn from."""
        with self._database.reading() as connection:
            return record.outcomes(connection, guideline)

    def votes(self, purpose: Purpose = Purpose.REAL) -> list[Vote]:
        """All answers that stand to tasks of a purpose: what agreement is computed from."""
        with self._database.reading() as connection:
            return record.votes(connection, purpose)

    def progress(self, annotator: int) -> Progress:
        """How much somebody has done."""
        with self._database.reading() as connection:
            found = progress.read(connection, annotator, self._progress.get(annotator, Progress()))
        self._progress[annotator] = found
        return found

    def training_results(self, annotator: int) -> list[bool]:
        """Of each simulated task that somebody answered, by time, whether the answer was right."""
        with self._database.reading() as connection:
            return training_phase.results(connection, annotator)

    def add_model(self, path: str, judgement: int, minutes: float, accuracy: float | None = None) -> int:
        """The version of a model that was trained on all judgements up to one, after so many minutes of annotation."""
        row = {"path": path, "judgement": judgement, "minutes": minutes, "accuracy": accuracy}
        with self._database.writing() as connection:
            added = connection.execute(
                insert(schema.models).values(**row, trained=self._clock()).returning(schema.models.c.version)
            )
            return int(added.scalar_one())

    def models(self) -> list[Model]:
        """All models, the oldest first."""
        with self._database.reading() as connection:
            return questions.read_models(connection)
