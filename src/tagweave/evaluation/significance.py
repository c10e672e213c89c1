"""Significance tests for the difference of two systems: paired randomisation, and Wilcoxon's signed-rank test.

The randomisation test is that of Noreen (1989, "Computer-Intensive Methods for Testing Hypotheses"), as in Bikel's
comparator of parsers, which li-2015 (section 5) uses. Under the null hypothesis the two outputs for a sentence are
exchangeable, so a trial exchanges the *counts* of each sentence with probability 1/2 and recomputes both scores from
the sums. This is correct for ratios such as F, whose value for a corpus is not a mean over sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tagweave.evaluation.score import Metric

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
