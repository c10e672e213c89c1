"""Sentences with entities, a task of spans for each, and shorthand for answers."""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, marked
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span

GUIDELINE = "ner"
FORMS = ("Ada", "Lovelace", "met", "Babbage", "in", "London", "today")
ADA, ADA_ONLY = Span(0, 2, "PER"), Span(0, 1, "PER")
BABBAGE, LONDON, LONDON_ORG = Span(3, 4, "PER"), Span(5, 6, "LOC"), Span(5, 6, "ORG")
CANDIDATES = (Candidate("PER", 0.9, 0, 2), Candidate("LOC", 0.6, 5, 6), Candidate("ORG", 0.3, 5, 6))
NOTES = {"PER": "people", "LOC": "", "ORG": "", "MISC": "<b>the rest</b>"}


def make_task(number: int, candidates: tuple[Candidate, ...] = CANDIDATES) -> AnnotationTask:
    """A task of the sentence of that number."""
    sentence = Sentence(FORMS, location=Location("news.txt", number + 1))
    return AnnotationTask(sentence, 0, len(FORMS), GUIDELINE, candidates, asks=Asks.SPANS)


def all_of(*spans: Span) -> Answer:
    """These spans, and everything is marked."""
    return marked(spans)


def some(*spans: Span, rejected: Sequence[Span] = ()) -> Answer:
    """These spans, and the rest is open, or rejected."""
    return marked(spans, False, rejected)


def furnished(store: Store, tasks: int = 1) -> Store:
    """The store with types and tasks."""
    store.add_labels(GUIDELINE, NOTES)
    store.add_tasks([make_task(number) for number in range(tasks)])
    return store


def answered(store: Store, *answers: Answer) -> Store:
    """Somebody new gives each answer to the first task."""
    for answer in answers:
        person = store.add_annotator(f"annotator {len(store.annotators())}").id
        lease = store.claim(person)
        store.answer(person, lease.task_id, answer)
    return store
