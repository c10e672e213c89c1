"""F and the recall of unknown words, of the cells of a method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.segmentation import Segmentation
from tagweave.evaluation.words import WordScores, word_scores
from tagweave.reproduce.cache import Result
from tagweave.reproduce.comparison import Measured
from tagweave.reproduce.run import Run
from tagweave.reproduce.tsuboi_2008.domain import Domain
from tagweave.reproduce.tsuboi_2008.methods import Method


@dataclass(frozen=True)
class Scored:
    """A method on one fold.

    Attributes:
        words: right, gold and system words of every sentence of C2, for every seed.
        unknown: the recall of words that A lacks, x 100, of every seed.
        results: of the cells, for every seed.
    """

    words: Measured
    unknown: list[float]
    results: list[Result]


def scored(run: Run[Domain, Method]) -> dict[str, list[Scored]]:
    """By the name of the method, for every fold."""
    found: dict[str, list[Scored]] = {method.name: [] for method in run.settings[0].methods}
    for setting in run.settings:
        domain = setting.draw(0)
        gold = [Segmentation(sentence.forms) for sentence in domain.test]
        known = frozenset(form for sentence in domain.source for form in sentence.forms)
        for method in setting.methods:
            found[method.name].append(_scored(gold, known, run.of(setting, method)))
    return found


def _scored(gold: Sequence[Segmentation], known: frozenset[str], results: list[Result]) -> Scored:
    scores = [word_scores(gold, list(_cut(gold, result["test"])), known) for result in results]
    counts = np.stack([each.counts for each in scores])
    return Scored(Measured(counts, f_of_counts), [_recall(each) for each in scores], results)


def _cut(gold: Sequence[Segmentation], lengths: Sequence[str]) -> Iterator[Segmentation]:
    """The text of the gold standard in words of these lengths."""
    for sentence, line in zip(gold, lengths, strict=True):
        text, ends = "".join(sentence.forms), accumulate(map(int, line.split(" ")), initial=0)
        yield Segmentation(tuple(text[a:b] for a, b in pairwise(ends)))


def _recall(scores: WordScores) -> float:
    return 100 * scores.oov.value if scores.oov else float("nan")


def pooled(folds: Sequence[Measured], one_test: bool) -> Measured:
    """All folds together: those of one test set are like seeds, those of several are one larger test set."""
    return Measured(np.concatenate([fold.counts for fold in folds], axis=0 if one_test else 1), folds[0].metric)
