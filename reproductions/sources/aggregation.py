"""Aggregation of what 47 people of Mechanical Turk marked, scored by gold that nothing is learnt from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.comparison import Measured, compare
from reproductions.sources.calibration import calibration_error
from reproductions.sources.rivals import RIVALS, rival_result
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.spans import span_scores
from tagweave.sources.answers import Answers
from tagweave.sources.methods import DEFAULT
from tagweave.sources.posterior import aggregate

OURS = "BSC-seq"
MAJORITY, DAWID_SKENE = "majority", "Dawid-Skene"


@dataclass(frozen=True)
class Way:
    """A row of the table: a method of ours with options, or another package."""

    name: str
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    rival: str = ""


WAYS = (
    Way(MAJORITY, "majority"),
    Way("majority of whole spans", "majority", {"whole": True}),
    Way(DAWID_SKENE, "dawid-skene"),
    Way("MACE", "mace"),
    Way("HMM", "hmm"),
    Way(OURS, "bsc"),
    Way(DEFAULT, DEFAULT),
    *(Way(name, rival=rival) for rival, name in RIVALS.items()),
)


class Outcome(NamedTuple):
    """Labels int32[N], probabilities [N, Y] and CPU seconds."""

    best: NDArray[np.integer]
    probabilities: NDArray[np.floating]
    seconds: float


def outcome(way: Way, answers: Answers, python: Path | None) -> Outcome | None:
    """What a way makes of answers; `None` for another package without its interpreter."""
    if way.rival:
        if python is None:
            return None
        rival = rival_result(python, way.rival, answers)
        return Outcome(rival.probabilities.argmax(axis=1), rival.probabilities, rival.seconds)
    aggregate(answers, way.method, {**way.options, "iterations": 1} if way.method != "majority" else way.options)
    start = time.process_time()  # kernels are compiled by now
    found = aggregate(answers, way.method, way.options)
    return Outcome(found.best, found.probabilities, time.process_time() - start)


def labelled(gold: Corpus, labels: tuple[str, ...], best: NDArray[np.integer]) -> Corpus:
    """The corpus with these labels instead of its own."""
    rest = iter(labels[y] for y in best.tolist())
    return gold.with_sentences(each.with_layer(gold.guideline, [(next(rest),) for _ in each.forms]) for each in gold)


def gold_numbers(gold: Corpus, labels: tuple[str, ...]) -> NDArray[np.int64]:
    """int64[N]: the gold label of every position; -1 if no source knows it."""
    number = {label: y for y, label in enumerate(labels)}
    own = [each.layers[gold.guideline] for each in gold]
    return np.array([number.get(candidates[0], -1) for layer in own for candidates in layer if candidates])


def rows(
    gold: Corpus, answers: Answers, python: Path | None, trials: int, say: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """The rows of the table, compared with majority and with Dawid-Skene."""
    answered = answers.answered > 0
    numbers, measures = gold_numbers(gold, answers.labels), dict[str, Measured]()
    tested = partial(compare, trials=trials)
    for way in WAYS:
        if (found := outcome(way, answers, python)) is None:
            continue
        scores = span_scores(gold, labelled(gold, answers.labels, found.best))
        measures[way.name] = own = Measured(scores.counts[None], f_of_counts)
        say(f"{way.name}: {100 * scores.spans.f:.2f}")
        yield {
            "name": way.name,
            "f": 100 * scores.spans.f,
            "precision": 100 * scores.spans.precision,
            "recall": 100 * scores.spans.recall,
            "accuracy": 100 * float((found.best == numbers)[answered].mean()),
            "calibration": calibration_error(found.probabilities[answered], numbers[answered]),
            "seconds": found.seconds,
            "against": {
                other: tested(own, measures[other])
                for other in (MAJORITY, DAWID_SKENE)
                if other in measures and other != way.name
            },
        }
