"""What unknown tokens cost, by what was left out, for spans, tags and words: `python -m benchmarks.gaps`.

Half of the labels of a corpus are left out in four ways. A model of the rest, by defaults, is compared with one of half
of the sentences, complete, which cost as many labels, and with one of all labels.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from statistics import mean
from typing import NamedTuple

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.evaluation.report import Report
from tagweave.front.label_model import LabelModel
from tagweave.labels.coding import SEGMENTATION
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.task import Task

RUN = 5
"""Tokens in a run of known or unknown ones, on average."""


class Setting(NamedTuple):
    """A corpus, and how many of its sentences are used. Without development data, training has a fixed length."""

    folder: str
    train: str
    test: str
    task: str
    sentences: int


SETTINGS = {
    "Spanish entities": Setting("es/conll2002", "train.txt", "test.txt", "spans", 4000),
    "English entities": Setting("en/conll2003", "train.txt", "test.txt", "spans", 4000),
    "English phrases": Setting("en/conll2000", "train.txt", "test.txt", "spans", 2000),
    "English tags": Setting("en/ewt", "train.conllu", "test.conllu", "tag", 3000),
    "French tags": Setting("fr/gsd-ud", "dev.conllu", "test.conllu", "tag", 1476),
    "Japanese tags": Setting("ja/gsd-suw", "dev.conllu", "test.conllu", "tag", 507),
    "Chinese words": Setting("zh/zx", "train.txt", "test.txt", "segment", 2373),
    "Chinese tags": Setting("zh/zx", "train.txt", "test.txt", "tag", 2373),
}


def at_random(layer: Layer, chance: random.Random) -> list[bool]:
    """Know each token with probability 1/2."""
    return [chance.random() < 0.5 for _ in layer]


def in_runs(layer: Layer, chance: random.Random) -> list[bool]:
    """Know runs of tokens, with as long ones between them that are unknown."""
    known: list[bool] = []
    state = chance.random() < 0.5
    while len(known) < len(layer):
        known += [state] * (1 + int(chance.expovariate(1 / (RUN - 1))))
        state = not state
    return known[: len(layer)]


def alternate(layer: Layer, chance: random.Random) -> list[bool]:
    """Know every other token."""
    first = chance.randrange(2)
    return [at % 2 == first for at in range(len(layer))]


GAPS: dict[str, Callable[[Layer, random.Random], list[bool]]] = {
    "at random": at_random,
    "runs": in_runs,
    "alternate": alternate,
}


def with_gaps(corpus: Corpus, gaps: str, seed: int) -> Corpus:
    """Return a corpus with half of its labels."""
    chance, name = random.Random(seed), corpus.guideline
    sentences = []
    for sentence in corpus:
        layer = sentence.layers[name]
        pairs = zip(layer, GAPS[gaps](layer, chance), strict=True)
        sentences.append(sentence.with_layer(name, [each if known else None for each, known in pairs]))
    return corpus.with_sentences(sentences)


def of_uncertain(corpus: Corpus, task: str, seed: int) -> Corpus:
    """Return a corpus with the half of its labels that models of the other half of its sentences find hardest."""
    sure: list[list[float]] = [[]] * len(corpus)
    for half in (0, 1):
        model = trained(corpus.with_sentences(corpus.sentences[1 - half :: 2]), task, seed)
        asked = [replace(each, layers={}) for each in corpus.sentences[half::2]]
        tables = ChainPredictor(model.chain).probabilities(asked)
        sure[half::2] = [table.max(axis=1).tolist() for table in tables]
    border = sorted(chain.from_iterable(sure))[corpus.tokens() // 2]
    name = corpus.guideline
    rows = (zip(each.layers[name], row, strict=True) for each, row in zip(corpus, sure, strict=True))
    layers = [[label if p < border else None for label, p in row] for row in rows]
    return corpus.with_sentences(each.with_layer(name, layer) for each, layer in zip(corpus, layers, strict=True))


def trained(corpus: Corpus, task: str, seed: int) -> LabelModel:
    """Train by defaults."""
    model: LabelModel = tw.train(corpus, task=task, seed=seed, callback=Silence())
    return model


def read(setting: Setting) -> tuple[Corpus, Corpus]:
    """Return the training sentences and the test set, of characters for the task segment."""
    folder = corpora_folder() / setting.folder
    train, test = tw.load(str(folder / setting.train)), tw.load(str(folder / setting.test))
    train = train.with_sentences(train.sentences[: setting.sentences])
    if setting.task == "segment":
        prepared = Task("segment").prepare(train)
        cut = (Sentence(each.forms, {SEGMENTATION: each.layers[train.guideline]}) for each in prepared)
        train = Corpus(tuple(cut), SEGMENTATION, "character")
    return train, test


def score(model: LabelModel, test: Corpus) -> float:
    """Return F of spans or words, or the accuracy of tags, in percent."""
    return percent(model.evaluate(test))


def percent(report: Report) -> float:
    """Return F of spans or words, or the accuracy of tags, of the one system of a report."""
    (scores,) = report.systems.values()
    found = next(getattr(scores, name) for name in ("spans", "words", "tokens") if hasattr(scores, name))
    return 100 * float(found.f if hasattr(found, "f") else found.value)


def measured(name: str, seeds: int) -> dict[str, list[float]]:
    """Return the scores of each way to spend the labels, one for each seed."""
    setting = SETTINGS[name]
    train, test = read(setting)
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        ways = {"all": train, "half of the sentences": train.with_sentences(train.sentences[seed % 2 :: 2])}
        ways |= {gaps: with_gaps(train, gaps, seed) for gaps in GAPS}
        ways["uncertain"] = of_uncertain(train, setting.task, seed)
        for way, corpus in ways.items():
            found.setdefault(way, []).append(score(trained(corpus, setting.task, seed), test))
        print(name, seed, {way: round(each[-1], 2) for way, each in found.items()}, file=sys.stderr, flush=True)
    return found


def page(found: dict[str, dict[str, list[float]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    ways = list(next(iter(found.values())))
    rows = [
        f"| {name} | " + " | ".join(f"{mean(each[way]):.2f}" for way in ways) + " |" for name, each in found.items()
    ]
    return [
        "# Unknown tokens, by what was left out",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        f"F of spans and words, accuracy of tags, on test, in percent; the mean of {seeds} seeds. Every training is by",
        "defaults and without development data. Half of the labels are left out:",
        "",
        "- *half of the sentences* is complete, at the cost of as many labels: the best that discarding incomplete",
        "  sentences can leave.",
        f"- *at random*: each token is known with probability 1/2. *runs*: stretches of {RUN} tokens on average are",
        "  known, or not. *alternate*: every other token is known. *uncertain*: the half of the tokens is known that a",
        "  model of the other sentences finds hardest, as when annotators are asked what a model does not know.",
        "",
        f"| corpus | {' | '.join(ways)} |",
        "|---|" + "---|" * len(ways),
        *rows,
        "",
    ]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("gaps", __doc__, SETTINGS, measured, page, words)


if __name__ == "__main__":
    main()
