"""F and the recall of unknown words, of the cells of a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reproductions.lab.cache import Result
from reproductions.lab.comparison import Measured
from reproductions.lab.run import Run
from reproductions.lab.words import unknown_counts, word_counts
from reproductions.tsuboi_2008.domain import Domain
from reproductions.tsuboi_2008.methods import Method
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import f_of_counts, share_of_counts


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
        known = frozenset(form for sentence in domain.source for form in sentence.forms)
        for method in setting.methods:
            found[method.name].append(_scored(domain.test, known, run.of(setting, method)))
    return found


def _scored(gold: Corpus, known: frozenset[str], results: list[Result]) -> Scored:
    words = np.stack([word_counts(gold, result["test"]) for result in results])
    unknown = np.stack([unknown_counts(gold, result["test"], known) for result in results])
    return Scored(Measured(words, f_of_counts), Measured(unknown, share_of_counts).values, results)


def pooled(folds: Sequence[Measured], one_test: bool) -> Measured:
    """All folds together: those of one test set are like seeds, those of several are one larger test set."""
    return Measured(np.concatenate([fold.counts for fold in folds], axis=0 if one_test else 1), folds[0].metric)
