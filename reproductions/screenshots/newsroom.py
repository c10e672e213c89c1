"""A project of spans: invented sentences, a model that has learnt from a few of them, and simulated annotators."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from random import Random

from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even, work_all
from reproductions.screenshots.office import CURATOR, PASSWORD, PEOPLE, Clock, Hand
from tagweave.annotate import intake
from tagweave.annotate.sign_in import hashed
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, marked
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

GUIDELINE = "news"
NOTES = {
    "PER": "people, without their titles",
    "LOC": "places, also rivers and streets",
    "ORG": "companies, universities, teams",
    "WORK": "books, films, pictures",
}
KNOWN = """
[PER Mara Lindqvist] moved to [LOC Lisbon] in spring .
The board of [ORG Halden Shipping] met in [LOC Oslo] .
[PER Joaquim Reis] teaches at the [ORG University of Porto] .
She read [WORK The Glass Harbour] on the train to [LOC Vienna] .
[ORG Northwind Energy] hired [PER Ines Okafor] last week .
They crossed the [LOC Danube] near [LOC Linz] .
[PER Tomasz Wilk] wrote [WORK Letters from the North] in [LOC Gdansk] .
The train from [LOC Porto] to [LOC Lisbon] was late .
[PER Ines Okafor] and [PER Mara Lindqvist] founded [ORG Okafor Lindqvist] .
A street in [LOC Oslo] is named after [PER Tomasz Wilk] .
The [ORG University of Vienna] bought his letters .
Nobody at [ORG Halden Shipping] knew [PER Joaquim Reis] .
"""
ASKED = """
[PER Lena Brandt] will direct [WORK The Glass Harbour] at the [ORG University of Oslo] .
[PER Ines Okafor] left [ORG Halden Shipping] for the [ORG University of Oslo] .
The [LOC Douro] meets the sea at [LOC Porto] .
[ORG Northwind Energy] built nothing near the [LOC Danube] .
In [LOC Gdansk] , [PER Tomasz Wilk] met [PER Lena Brandt] .
The harbour of [LOC Halden] closed .
[PER Mara Lindqvist] gave [WORK Letters from the North] to the [ORG University of Porto] .
[PER Joaquim Reis] of [ORG Okafor Lindqvist] spoke in [LOC Linz] .
[ORG Brandt Films] moved from [LOC Vienna] to [LOC Oslo] .
It rained on the train to [LOC Vienna] .
"""
_LEFT, _ITERATIONS = 1, 3  # sentences that nobody has answered yet, iterations of training
_SPAN = re.compile(r"\[([A-Z]+) ([^]]+)\]|(\S+)")


def corpus(text: str) -> Corpus:
    """The sentences of a text in which spans stand in brackets, after their type."""
    numbers = count(1)
    return Corpus(tuple(_sentence(line, next(numbers)) for line in text.strip().splitlines()), GUIDELINE)


def _sentence(line: str, number: int) -> Sentence:
    forms: list[str] = []
    spans: list[Span] = []
    for found in _SPAN.finditer(line):
        words = (found[2] or found[3]).split()
        if found[1]:
            spans.append(Span(len(forms), len(forms) + len(words), found[1]))
        forms += words
    plain = Sentence(tuple(forms), location=Location("news.txt", number))
    return plain.with_spans(GUIDELINE, [(span,) for span in spans])


def furnish(folder: Path) -> Store:
    """The store of the project: two people have answered all but one task, and two more where these differ."""
    clock = Clock()
    store = Store.open(f"sqlite:///{folder / 'spans.db'}", clock=clock, seed=1)
    for name, role in [*((name, "annotator") for name in PEOPLE), (CURATOR, "curator")]:
        store.add_annotator(name, role, hashed(PASSWORD))
    store.add_labels(GUIDELINE, NOTES)
    tagger = ChainPredictor(fit([corpus(KNOWN)], Recipe(Task("spans")), run=Run(Schedule(_ITERATIONS))).model)
    gold = corpus(ASKED)
    right = {each.location.line: marked(group[0] for group in each.spans(GUIDELINE)) for each in gold}
    raw = gold.map(lambda each: Sentence(each.forms, location=each.location))
    intake.put_uncertain(store, raw.with_sentences(raw.sentences[_LEFT:]), tagger, 1.0)
    random = Random(2)

    def answer(task: AnnotationTask) -> Answer:
        return right[task.sentence.location.line]

    desks = [Hand(StoreDesk(store, each.id), clock, random) for each in store.annotators() if each.name in PEOPLE]
    work_all([Simulated(desk, answer, even(0.6), seed) for seed, desk in enumerate(desks)])
    intake.put_uncertain(store, raw.with_sentences(raw.sentences[:_LEFT]), tagger, 1.0)
    clock.behind = 0.0
    return store
