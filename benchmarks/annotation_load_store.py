"""A store to load: filled with tasks, on SQLite or PostgreSQL, and compared with what was acknowledged."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from argon2 import PasswordHasher
from sqlalchemy import select

from benchmarks.postgresql import programs, running
from tagweave.annotate.database import Database, judgements
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Candidate, Kind
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence

DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
PASSWORD = "correct horse"  # noqa: S105
_QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # signing in is not what is measured
GUIDELINE = "ctb"
_TAGS = tuple(
    "AD AS BA CC CD CS DEC DEG DER DEV DT ETC FW IJ JJ LB LC M MSP NN NR NT OD ON P PN PU SB SP VA VC VE VV".split()  # noqa: SIM905
)
_MANY = 500  # tasks of one transaction

Said = tuple[int, int, str]
"""Number of a task, number of an annotator, answer as a form has it."""


class Comparison(NamedTuple):
    """Judgements in the store, and answers that were acknowledged: how many are missing, there twice, or unknown."""

    stored: int
    lost: int
    doubled: int
    unacknowledged: int


@contextmanager
def new_url(database: str) -> Iterator[str]:
    """The URL of a store that waits for the disk, while the block runs."""
    if database == "sqlite":
        with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
            yield f"sqlite:///{folder}/answers.db"
        return
    folder_of_programs = programs()
    if folder_of_programs is None:
        raise SystemExit("PostgreSQL (initdb, pg_ctl) is not installed")
    with running(folder_of_programs, durable=True) as url:
        yield url


def fill(url: str, tasks: int, people: int) -> dict[str, int]:
    """Put in tasks of sentences of the sample, under the tags of a treebank, and annotators; their numbers by name."""
    forms = [sentence.forms for sentence in load(str(sample.path("ctb.txt")))]
    store = Store.open(url)
    store.add_labels(GUIDELINE, {tag: f"See the guideline, under {tag}." for tag in _TAGS})
    for begin in range(0, tasks, _MANY):
        store.add_tasks([_task(number, forms) for number in range(begin, min(begin + _MANY, tasks))])
    names, kept = [f"annotator {number}" for number in range(people)], _QUICK.hash(PASSWORD)
    numbers = {name: store.add_annotator(name, password_hash=kept).id for name in names}
    store.close()
    return numbers


def _task(number: int, forms: list[tuple[str, ...]]) -> AnnotationTask:
    sentence = Sentence(forms[number % len(forms)], location=Location("raw.txt", number + 1))
    focus, first = number % len(sentence), number % (len(_TAGS) - 3)
    names = _TAGS[first : first + 3]
    candidates = tuple(Candidate(name, share) for name, share in zip(names, (0.5, 0.3, 0.2), strict=True))
    return AnnotationTask(sentence, focus, focus + 1, GUIDELINE, candidates, uncertainty=0.5)


def compared(url: str, acknowledged: list[Said]) -> Comparison:
    """What the store has against what was acknowledged. Nobody undoes, so a task is judged once by each annotator."""
    stored = Counter(_judgements(url))
    places = Counter((task, annotator) for task, annotator, _ in stored.elements())
    wanted = Counter(acknowledged)
    return Comparison(
        stored.total(), (wanted - stored).total(), places.total() - len(places), (stored - wanted).total()
    )


def _judgements(url: str) -> Iterator[Said]:
    database = Database(url)
    columns = judgements.c.task, judgements.c.annotator, judgements.c.kind, judgements.c.label
    with database.reading() as connection:
        for task, annotator, kind, label in connection.execute(select(*columns)):
            yield task, annotator, f"label {label}" if kind == Kind.LABEL else kind
    database.close()


def numbered(acknowledged: list[tuple[int, str, str]], numbers: Mapping[str, int]) -> list[Said]:
    """Answers of annotators by name, with their numbers."""
    return [(task, numbers[name], answer) for task, name, answer in acknowledged]
