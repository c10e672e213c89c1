"""Which priors stand: simulated crowds of two corpora, aggregated under several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproductions.lab.corpora import all_corpora
from reproductions.sources.aggregation import gold_numbers, labelled
from reproductions.sources.calibration import calibration_error
from reproductions.sources.crowd import Crowd, crowded
from tagweave.corpus.load import load
from tagweave.evaluation.spans import span_scores
from tagweave.sources.answers import Answers
from tagweave.sources.posterior import aggregate

_SMOOTHING = (0.01, 0.1, 1.0)
_BSC = [(right, wrong) for right in (1.0, 10.0, 100.0) for wrong in (0.1, 1.0, 10.0)]
WAYS: tuple[tuple[str, dict[str, float]], ...] = (
    ("majority", {}),
    *(("dawid-skene", {"smoothing": each}) for each in _SMOOTHING),
    *(("hmm", {"smoothing": each}) for each in _SMOOTHING),
    *(("bsc", {"right": right, "wrong": wrong}) for right, wrong in _BSC),
)
"""Methods and their pseudo-counts."""


@dataclass(frozen=True)
class Simulated:
    """A crowd on a corpus: people who err alike are only one kind, so the second mark boundaries badly."""

    title: str
    path: str
    sentences: int
    crowd: Crowd


CROWDS = (
    Simulated("Spanish entities", "es/conll2002/train.txt", 2500, Crowd()),
    Simulated(
        "English phrases, boundaries often wrong",
        "en/conll2000/train.txt",
        1500,
        Crowd(people=30, miss=(2, 10), shift=(2, 6), split=(1, 5)),
    ),
)


def table(simulated: Simulated, seeds: int, sentences: int | None, say: Callable[[str], None]) -> dict[str, Any]:
    """The numbers of every way on a crowd, the means over seeds."""
    corpus = load(str(all_corpora() / simulated.path))
    corpus = corpus.with_sentences(corpus.sentences[: sentences or simulated.sentences])
    found: list[list[list[float]]] = [[] for _ in WAYS]
    for seed in range(seeds):
        answers = Answers.of_sentences(*crowded(corpus.sentences, corpus.guideline, simulated.crowd, seed))
        gold = gold_numbers(corpus, answers.labels)
        for (method, options), numbers in zip(WAYS, found, strict=True):
            result = aggregate(answers, method, options)
            spans = span_scores(corpus, labelled(corpus, answers.labels, result.best)).spans
            error = calibration_error(result.probabilities, gold)
            numbers.append([100 * spans.f, 100 * spans.precision, 100 * spans.recall, error])
            say(f"{simulated.title}, seed {seed}, {method} {options}: {100 * spans.f:.2f}")
    rows = [
        {"method": method, "options": options, "numbers": np.mean(numbers, axis=0).tolist()}
        for (method, options), numbers in zip(WAYS, found, strict=True)
    ]
    return {"title": simulated.title, "path": simulated.path, "crowd": vars(simulated.crowd), "rows": rows}
