"""An annotation project on the bundled sample, some hours old: simulated annotators, models that learned from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from reproductions.lab.simulated_annotators import Chance, Simulated, StoreDesk, even
from tagweave.annotate import intake
from tagweave.annotate.kwic import build
from tagweave.annotate.page_request import WordList
from tagweave.annotate.retraining import Retraining, retrain
from tagweave.annotate.rules import Settings
from tagweave.annotate.sign_in import hashed
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Purpose, label
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.task import Task
from tagweave.training.model_file import save_training
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import job_of
from tagweave.training.train import train

GUIDELINE = "ctb"
PASSWORD = "correct horse"  # noqa: S105  # of everybody here
PEOPLE = {"Ada": 0.95, "Bo": 0.88, "Chidi": 0.92, "Dunja": 0.9}
"""Annotators, and how often each is right."""
CURATOR = "Edith"
WORDS = ("没有", "起来", "开始", "学生", "马上", "上学", "生活", "一点")
NOTES = {
    "AD": "adverb; also linking adverbs: 但, 因此, 而且",
    "AS": "aspect particle 了, 着, 过",
    "CC": "coordinating conjunction",
    "CD": "cardinal number, also 许多, 大量",
    "DEC": "的 after a clause, a verb or a predicative adjective",
    "DEG": "的 after a noun, a pronoun, a number or a JJ",
    "JJ": "modifies a noun without 的, or is never a predicate",
    "LC": "localizer, after its noun: 上, 里, 以前",
    "M": "measure word",
    "NN": "common noun",
    "NR": "proper noun",
    "NT": "noun of time: 今天, 去年",
    "P": "preposition; 因为 and 由于 too",
    "PU": "punctuation",
    "SP": "particle at the end of a sentence",
    "VA": "predicative adjective",
    "VV": "verb, modal verbs among them",
}
_LEARN, _RAW, _GOLD = slice(0, 12), slice(12, 112), slice(112, 120)
_SHARE, _ROUNDS, _ANSWERS = 0.4, 4, 200


@dataclass
class Clock:
    """The time, so many seconds ago; work moves it on."""

    behind: float = 3 * 3600.0

    def __call__(self) -> float:
        """Seconds since 1970."""
        return time.time() - self.behind


@dataclass
class Hand:
    """A desk at which thinking takes time."""

    desk: StoreDesk
    clock: Clock
    random: Random

    def claim(self) -> tuple[int, AnnotationTask] | None:
        """See `reproductions.lab.simulated_annotators.Desk`."""
        return self.desk.claim()

    def answer(self, number: int, answer: Answer) -> None:
        """See `reproductions.lab.simulated_annotators.Desk`."""
        self.clock.behind -= self.random.uniform(2.0, 9.0)
        self.desk.answer(number, answer)


def furnish(folder: Path) -> tuple[Store, WordList]:
    """The store of the project, and the words of its concordance; files go into the folder."""
    clock = Clock()
    url = f"sqlite:///{folder / 'answers.db'}"
    store = Store.open(url, Settings(gold_share=0.1), clock, seed=1)
    for name, role in [*((name, "annotator") for name in PEOPLE), (CURATOR, "curator")]:
        store.add_annotator(name, role, hashed(PASSWORD))
    plan = _plan(folder, url)
    store.add_labels(GUIDELINE, NOTES)
    every = (found for each in _corpus() for found in each.layers[GUIDELINE])
    store.add_labels(GUIDELINE, {name: "" for names in every for name in names or ()})
    _ask(store, plan)
    _work(store, plan, clock)
    clock.behind = 0.0
    return store, _word_list(folder)


def _corpus() -> Corpus:
    return load(str(sample.path("ctb.txt")), unnamed=GUIDELINE)


def _plan(folder: Path, url: str) -> Retraining:
    """Training on some of the sample and the answers, as `tagweave annotate serve` does it."""
    corpus = _corpus()
    for name, part in {"learn": _LEARN, "raw": _RAW, "gold": _GOLD}.items():
        save(corpus.with_sentences(corpus.sentences[part]), str(folder / f"{name}.conllu"))
    plan = _training(folder)
    plan = replace(plan, target=(*plan.target, Source(guideline=GUIDELINE)))
    dev = f"{GUIDELINE}={sample.path('both.tsv')}#ctb"
    return Retraining(url, "model", GUIDELINE, plan, str(folder), dev=dev)


def _ask(store: Store, plan: Retraining) -> None:
    """What the first model doubts, and planted gold."""
    folder, path = Path(plan.folder), _trained(plan, "model")
    model = load_model(path, ChainModel)
    accuracy = dev_score(model, Task(model.task).prepare(load(str(plan.dev))))(model.weights)
    version = store.add_model(str(path), 0, 0.0, float(accuracy))
    tagger = ChainPredictor(model)
    raw = load(str(folder / "raw.conllu"), unnamed=GUIDELINE).map(
        lambda each: Sentence(each.forms, location=each.location)
    )
    intake.put_uncertain(store, raw, tagger, _SHARE, version)
    gold = load(f"{GUIDELINE}={folder / 'gold.conllu'}")
    intake.put_known(store, gold, Purpose.GOLD, 30, tagger, model=version)


def _training(folder: Path, task: str = "tag") -> Plan:
    """Training on what is known from the start."""
    return Plan((Source.of(f"{GUIDELINE}={folder / 'learn.conllu'}"),), task=task, iterations=5)


def _trained(plan: Retraining, name: str, task: str = "tag") -> Path:
    """A model of what is known from the start."""
    path = Path(plan.folder) / f"{name}.safetensors"
    save_training(train(job_of(_training(Path(plan.folder), task=task), Run())), path)
    return path


def _work(store: Store, plan: Retraining, clock: Clock) -> None:
    """Some rounds of answers, a model after each, and a last round without one."""
    raw = load(f"{GUIDELINE}={Path(plan.folder) / 'raw.conllu'}")
    right = {each.location.line: each.layers[GUIDELINE] for each in raw}

    def gold(task: AnnotationTask) -> Answer:
        return task.gold or label((right[task.sentence.location.line][task.start] or ("",))[0])

    random = Random(2)
    desks = (Hand(StoreDesk(store, each.id), clock, random) for each in store.annotators() if each.name in PEOPLE)
    people = [Simulated(*each, seed) for seed, each in enumerate(zip(desks, *_minds(gold), strict=True))]
    for number in range(_ROUNDS + 1):
        for _ in range(_ANSWERS):
            random.choice(people).step()
        if number < _ROUNDS:
            retrain(store, plan)


def _minds(gold: Callable[[AnnotationTask], Answer]) -> tuple[list[Callable[[AnnotationTask], Answer]], list[Chance]]:
    """What is right, to everybody, and how often each says it, by name."""
    return [gold] * len(PEOPLE), [even(PEOPLE[name]) for name in sorted(PEOPLE)]


def _word_list(folder: Path) -> WordList:
    """A concordance of the whole sample."""
    lines = ["".join(each.forms) for name in sample.NAMES for each in load(str(sample.path(name)), unnamed=GUIDELINE)]
    return WordList(build(lines, folder / "kwic"), WORDS, GUIDELINE, "sample.txt")
