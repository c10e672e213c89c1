"""Taggers trained on what 47 people of Mechanical Turk or four noisy sources marked, scored on text that none saw.

The gold standard of the training text trains one row, the limit; no other row sees it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import Measured, compare
from reproductions.sources.aggregation import labelled
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.spans import span_scores
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.guide import labels_of
from tagweave.sources.answers import Answers
from tagweave.sources.layers import with_aggregate
from tagweave.sources.methods import DEFAULT
from tagweave.sources.posterior import aggregate
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.source_rounds import SourceRounds
from tagweave.training.task import Task

METHODS = {
    "majority": "majority",
    "Dawid-Skene": "dawid-skene",
    "MACE": "mace",
    "HMM": "hmm",
    "BSC-seq": "bsc",
    "blend": DEFAULT,
}
BY_TURNS, GOLD, USUAL = "sources, by turns", "gold", f"{DEFAULT}, probabilities"
ROUNDS = 3
_SCHEDULE = Schedule(iterations=30, patience=5)


class Texts(NamedTuple):
    """The text with answers, its gold standard, and other text to choose iterations by and to score."""

    answers: Answers
    gold: Corpus
    dev: Corpus
    test: Corpus


@dataclass(frozen=True)
class Way:
    """A row: how labels are made of answers, and whether a model sees the best ones or their probabilities."""

    name: str
    method: str = ""
    soft: bool = False


WAYS = (
    *(Way(f"{name}, best labels", method) for name, method in METHODS.items()),
    *(Way(f"{name}, probabilities", method, soft=True) for name, method in METHODS.items()),
    Way(BY_TURNS),
    Way(GOLD),
)


def rows(
    texts: Texts, seeds: int, cache: Cache, trials: int, say: Callable[[str], None], description: Result
) -> Iterator[dict[str, Any]]:
    """The rows of the table, compared with `USUAL`; `description` says what texts these are."""
    measures: dict[str, Measured] = {}
    results: dict[str, list[Result]] = {}
    for way in WAYS:
        for seed in range(seeds):
            about = {**description, "way": way.name, "seed": seed}
            results.setdefault(way.name, []).append(
                own := cache.result(f"{way.name} {seed}", about, partial(_result, way, texts, seed))
            )
            say(f"{way.name}, seed {seed}: dev {100 * own['dev']:.2f}")
        counts = [span_scores(texts.test, _read(texts.test, each["test"])).counts for each in results[way.name]]
        measures[way.name] = Measured(np.stack(counts), f_of_counts)
    for name, found in results.items():
        scores = [span_scores(texts.test, _read(texts.test, each["test"])).spans for each in found]
        yield {
            "name": name,
            "dev": [100 * each["dev"] for each in found],
            "f": [100 * each.f for each in scores],
            "precision": float(np.mean([100 * each.precision for each in scores])),
            "recall": float(np.mean([100 * each.recall for each in scores])),
            "labels": None if found[0]["labels"] is None else float(np.mean([100 * each["labels"] for each in found])),
            "seconds": float(np.mean([each["seconds"] for each in found])),
            "against": None if name == USUAL else compare(measures[name], measures[USUAL], trials),
        }


def _result(way: Way, texts: Texts, seed: int) -> Result:
    begin = time.process_time()
    recipe, run = Recipe(Task("spans"), settings={"seed": seed}), Run(_SCHEDULE)
    train, labels = _training(way, texts, recipe, seed, run)
    fitted = fit([train], recipe, texts.dev, run)
    tagger = ChainPredictor(fitted.model)
    text = texts.test.with_sentences(replace(each, layers={}) for each in texts.test)
    test = [" ".join(labels_of(sentence, tagger.guideline)) for sentence in tagger.tag(text)]
    seconds = time.process_time() - begin
    return {"dev": fitted.outcome.score, "test": test, "labels": labels, "seconds": seconds}


def _training(way: Way, texts: Texts, recipe: Recipe, seed: int, run: Run) -> tuple[Corpus, float | None]:
    """The training text, and the F of its labels."""
    answers, bare = texts.answers, _without(texts.gold)
    if way.name == GOLD:
        return replace(texts.gold, guideline=bare.guideline).map(_renamed(texts.gold.guideline, bare.guideline)), None
    if way.name == BY_TURNS:
        rounds = SourceRounds(bare, answers, recipe, {}, seed=seed, dev=texts.dev, run=run)
        believed = rounds.best(ROUNDS)
        return rounds.evidence(believed), _f(texts, believed.labels.argmax(axis=1))
    found = aggregate(answers, way.method)
    train = bare.with_sentences(with_aggregate(bare, answers, found, bare.guideline, hard=not way.soft))
    return train, _f(texts, found.best)


def _f(texts: Texts, best: Any) -> float:
    return span_scores(texts.gold, labelled(texts.gold, texts.answers.labels, best)).spans.f


def _without(gold: Corpus) -> Corpus:
    """The text alone, with the guideline of the other corpora."""
    return replace(gold, guideline="tag", layer="").map(lambda each: replace(each, layers={}))


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    return lambda each: replace(each, layers={new: each.layers[old]})


def _read(test: Corpus, lines: list[str]) -> Corpus:
    pairs = zip(test, lines, strict=True)
    return test.with_sentences(
        each.with_layer(test.guideline, [(label,) for label in line.split()]) for each, line in pairs
    )
