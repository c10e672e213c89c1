"""Tasks of toy sentences, and shorthand for answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tagweave.annotate.assignment import Lease
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, Purpose, Status, label
from tagweave.corpus.sentence import Location, Sentence

NewUrl = Callable[[], str]
"""Makes the URL of an empty store: the fixture `new_url`."""
OpenStore = Callable[..., Store]
"""Opens a store, a new one or that of `url`: the fixture `open_store`."""
GUIDELINE = "ctb"
NN, VV, JJ = (label(name) for name in ("NN", "VV", "JJ"))
CANDIDATES = (Candidate("NN", 0.5), Candidate("VV", 0.3), Candidate("JJ", 0.2))


def make_task(
    number: int, purpose: Purpose = Purpose.REAL, gold: Answer | None = None, uncertainty: float = 0.0
) -> AnnotationTask:
    """A task of the sentence of that number."""
    place = Location("toy.txt", number + 1)
    return AnnotationTask(Sentence(("a", "b"), location=place), 0, 1, GUIDELINE, CANDIDATES, uncertainty, purpose, gold)


def make_tasks(
    numbers: Iterable[int], purpose: Purpose = Purpose.REAL, gold: Answer | None = None
) -> list[AnnotationTask]:
    """Tasks of sentences of these numbers, all as uncertain."""
    return [make_task(number, purpose, gold) for number in numbers]


def hire(store: Store, number: int) -> list[int]:
    """So many new annotators."""
    return [store.add_annotator(f"annotator {i}").id for i in range(number)]


def staffed(store: Store, tasks: int, people: int) -> list[int]:
    """So many new tasks, and so many new annotators."""
    store.add_tasks(make_tasks(range(tasks)))
    return hire(store, people)


def say(store: Store, annotator: int, answer: Answer) -> Status:
    """Answer the task that an annotator gets."""
    lease = store.claim(annotator)
    assert lease is not None
    return store.answer(annotator, lease.task_id, answer).status


def undo(store: Store, annotator: int) -> Lease:
    """Undo the last answer of somebody, whatever it is."""
    (lease,) = store.undo(annotator, store.progress(annotator).judgement)
    return lease


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now
