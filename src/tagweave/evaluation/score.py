"""Scores: counts of right items, and ratios computed from them.

A score keeps its counts, so that the scores of sentences add up and the ratio is computed once, over the whole corpus.
A ratio with denominator 0 is undefined, that is, `nan`.

Significance tests for the difference of two systems: paired randomisation, and Wilcoxon's signed-rank test.

The randomisation test is that of Noreen (1989, "Computer-Intensive Methods for Testing Hypotheses"), as in Bikel's
comparator of parsers, which li-2015 (section 5) uses. Under the null hypothesis the two outputs for a sentence are
exchangeable, so a trial exchanges the *counts* of each sentence with probability 1/2 and recomputes both scores from
the sums. This is correct for ratios such as F, whose value for a corpus is not a mean over sentences.

Bootstrap intervals of scores: sentences are drawn with replacement, and every sample is scored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Counts = NDArray[np.int64]
"""A row of counts for each sentence; the last axis holds the counts that a metric needs."""
Metric = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From counts of shape (..., K) to scores of shape (...); `nan` where a ratio is undefined."""


class Measure(NamedTuple):
    """The input of a significance test: counts per sentence, and the metric that is computed from their sum."""

    counts: Counts
    metric: Metric


def ratio(part: float, whole: float) -> float:
    """`part / whole`, or `nan` if `whole` is 0."""
    return part / whole if whole else math.nan


def number(value: float) -> float | None:
    """The value for JSON: `None` for `nan`."""
    return None if math.isnan(value) else float(value)


@dataclass(frozen=True, slots=True)
class Score:
    """Right items among those of the gold standard and those of the system.

    Attributes:
        right: items of the system that are right; some metrics count half of an item.
        gold: items of the gold standard (the support).
        system: items of the system.
    """

    right: float
    gold: int
    system: int

    @property
    def precision(self) -> float:
        """The share of the system's items that are right, 0..1."""
        return ratio(self.right, self.system)

    @property
    def recall(self) -> float:
        """The share of the gold items that the system has, 0..1."""
        return ratio(self.right, self.gold)

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall, 0..1; 0 if exactly one of them is undefined."""
        return ratio(2 * self.right, self.gold + self.system)

    def to_json(self) -> dict[str, Any]:
        """Counts and ratios as a plain dict."""
        ratios = {"precision": number(self.precision), "recall": number(self.recall), "f": number(self.f)}
        return {**ratios, "right": self.right, "gold": self.gold, "system": self.system}


@dataclass(frozen=True, slots=True)
class Share:
    """How many of `total` items are right."""

    right: int
    total: int

    @property
    def value(self) -> float:
        """The share of right items, 0..1."""
        return ratio(self.right, self.total)

    def to_json(self) -> dict[str, Any]:
        """Counts and ratio as a plain dict."""
        return {"value": number(self.value), "right": self.right, "total": self.total}


def share_of_counts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accuracy from counts (..., 2) of right and scored items."""
    return _divide(counts[..., 0], counts[..., 1])


def f_of_counts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """F from counts (..., 3) of right, gold and system items."""
    return _divide(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


def _divide(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


BLOCK = 4_000_000
"""Exchanges (trials x sentences) in memory at a time."""
TOLERANCE = 1e-12
"""Score differences closer than this are equal up to rounding."""


def randomisation_test(
    first: ArrayLike, second: ArrayLike, metric: Metric, trials: int = 10_000, seed: int = 0
) -> float:
    """The two-sided p-value of the difference between two systems: (trials as extreme + 1) / (trials + 1).

    Args:
        first: counts of the first system, (S, K): a row for each sentence, with the columns that `metric` takes.
        second: those of the second system on the same sentences.
        metric: computes the score from summed counts.
        trials: number of random exchanges.
        seed: seed of the exchanges.

    Raises:
        ValueError: counts of different shapes, fewer than one trial, or an undefined score of a whole corpus.
    """
    ours, theirs = _paired(first, second, 2)
    if trials < 1:
        raise ValueError(f"found {trials} trials, expected at least 1")
    totals, other_totals = ours.sum(axis=0), theirs.sum(axis=0)
    observed = abs(float(metric(totals) - metric(other_totals)))
    if np.isnan(observed):
        raise ValueError("found an undefined score (a ratio over nothing), expected counts that define it")
    changes = theirs - ours
    changes = changes[changes.any(axis=1)]  # exchanging equal counts changes nothing
    generator = np.random.default_rng(seed)
    extreme = 0
    for size in _block_sizes(trials, len(changes)):
        moved = _exchanges(generator, size, len(changes)) @ changes
        difference = np.abs(metric(totals + moved) - metric(other_totals - moved))
        extreme += int((~(difference < observed - TOLERANCE)).sum())  # an undefined score counts as extreme
    return (extreme + 1) / (trials + 1)


def _block_sizes(trials: int, sentences: int) -> list[int]:
    block = max(BLOCK // max(sentences, 1), 1)
    return [min(block, trials - start) for start in range(0, trials, block)]


def _exchanges(generator: np.random.Generator, trials: int, sentences: int) -> NDArray[np.float64]:
    """Zeros and ones, each with probability 1/2, of shape (trials, sentences)."""
    random = generator.integers(0, 256, size=(trials, (sentences + 7) // 8), dtype=np.uint8)
    return np.unpackbits(random, axis=1, count=sentences).astype(np.float64)


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test on paired scores of sentences or trials.

    Pairs with an undefined score (`nan`) and pairs without a difference are left out (Wilcoxon's own treatment of
    zeros); 1.0 if that leaves none. Differences that are equal up to rounding have the same rank.

    Raises:
        ValueError: scores that are not two sequences of the same length.
    """
    ours, theirs = _paired(first, second, 1)
    differences = np.round(ours - theirs, 12)
    differences = differences[~np.isnan(differences) & (differences != 0)]
    if not len(differences):
        return 1.0
    from scipy.stats import wilcoxon

    result: Any = wilcoxon(differences, zero_method="wilcox", alternative="two-sided")
    return float(result.pvalue)


def _paired(first: ArrayLike, second: ArrayLike, dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ours, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if ours.shape != theirs.shape or ours.ndim != dimensions:
        raise ValueError(f"found shapes {ours.shape} and {theirs.shape}, expected two alike of {dimensions} dimensions")
    return ours, theirs


SAMPLES = 1000
LEVEL = 0.95
_BLOCK = 4_000_000  # draws (samples x sentences) in memory at a time


def interval(measure: Measure, samples: int = SAMPLES, level: float = LEVEL, seed: int = 0) -> tuple[float, float]:
    """The percentile interval of a score (Efron 1979).

    Args:
        measure: counts of sentences, (S, K), and the metric of their sum.
        samples: how many samples of S sentences are drawn.
        level: the share of samples whose scores lie in the interval, 0..1.
        seed: seed of the draws.

    Returns:
        The ends of the interval; `nan` where the score is undefined in all samples.
    """
    counts = np.asarray(measure.counts, float)
    generator, size = np.random.default_rng(seed), len(counts)
    if not size:
        return np.nan, np.nan
    step = max(1, _BLOCK // size)
    blocks = [min(step, samples - first) for first in range(0, samples, step)]
    scores = [measure.metric(generator.multinomial(size, np.full(size, 1 / size), block) @ counts) for block in blocks]
    found = np.concatenate(scores)
    if np.isnan(found).all():
        return np.nan, np.nan
    low, high = np.nanquantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
