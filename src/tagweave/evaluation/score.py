"""Scores, tests of significance, and intervals.

A score keeps counts of right items, so the scores of sentences add up, and a ratio is computed once for the whole
corpus. A ratio over nothing is undefined: `nan`.

The paired randomisation test follows Noreen (1989, "Computer-Intensive Methods for Testing Hypotheses"), as in
Bikel's comparator of parsers, which li-2015 (section 5) uses. Under the null hypothesis the outputs of two systems for
a sentence are exchangeable. A trial exchanges the *counts* of each sentence with probability 1/2, and computes both
scores from the sums. This also holds for ratios such as F, whose value for a corpus is not a mean over sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Counts = NDArray[np.int64]
"""A row of counts for each sentence; the last axis holds the counts that a metric needs."""
Metric = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From counts of shape (..., K) to scores of shape (...); `nan` where a ratio is undefined."""


class Measure(NamedTuple):
    """Counts per sentence, and the metric that is computed from their sum."""

    counts: Counts
    metric: Metric

    @property
    def score(self) -> float:
        """The score of all sentences together; `nan` if it is undefined."""
        return float(self.metric(self.counts.sum(axis=0)))


def ratio(part: float, whole: float) -> float:
    """Return `part / whole`, or `nan` if `whole` is 0."""
    return part / whole if whole else math.nan


def plain(value: Any) -> Any:
    """Return a value as plain data for JSON: `None` for `nan`, lists for tuples, dicts for results."""
    if isinstance(value, Result):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


class Result:
    """A dataclass of scores that can be written as JSON."""

    __slots__ = ()
    json_names: ClassVar[Mapping[str, str]] = {}
    """Names of fields in JSON, where they differ."""

    def to_json(self) -> dict[str, Any]:
        """Return everything except the counts per sentence as plain data; an undefined ratio is `None`."""
        shown = (field.name for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return {self.json_names.get(name, name): plain(getattr(self, name)) for name in shown}


@dataclass(frozen=True, slots=True)
class Score(Result):
    """Numbers of right items, of gold items and of the system's items."""

    right: float  # items of the system that are right; some metrics count half of an item
    gold: int  # items of the gold standard (the support)
    system: int  # items of the system

    @classmethod
    def total(cls, scores: Iterable[Score]) -> Score:
        """Return the score of several parts together."""
        parts = [(score.right, score.gold, score.system) for score in scores]
        return cls(*map(sum, zip(*parts, strict=True)))

    @property
    def precision(self) -> float:
        return ratio(self.right, self.system)

    @property
    def recall(self) -> float:
        return ratio(self.right, self.gold)

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall, 0..1; 0 if exactly one of them is undefined."""
        return ratio(2 * self.right, self.gold + self.system)

    def to_json(self) -> dict[str, Any]:
        return {**{name: plain(getattr(self, name)) for name in ("precision", "recall", "f")}, **Result.to_json(self)}


@dataclass(frozen=True, slots=True)
class Share(Result):
    """How many of `total` items are right."""

    right: int
    total: int

    @property
    def value(self) -> float:
        return ratio(self.right, self.total)

    def to_json(self) -> dict[str, Any]:
        return {"value": plain(self.value), "right": self.right, "total": self.total}


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


def counts_by_sentence(size: int, *items: NDArray[np.int64]) -> Counts:
    """Return int64[size, len(items)]: how many items of each kind a sentence has; items are numbers of sentences."""
    return np.stack([np.bincount(item, minlength=size) for item in items], axis=1).astype(np.int64)


_BLOCK = 4_000_000  # exchanges or draws (trials x sentences) in memory at a time
TOLERANCE = 1e-12
"""Score differences closer than this are equal up to rounding."""


def randomisation_test(
    first: ArrayLike, second: ArrayLike, metric: Metric, trials: int = 10_000, seed: int = 0
) -> float:
    """Return the two-sided p-value of the difference between two systems: (trials as extreme + 1) / (trials + 1).

    Args:
        first: counts of the first system, (S, K): a row for each sentence, with the columns that `metric` takes.
        second: counts of the second system on the same sentences.
        metric: computes the score from summed counts.
        trials: number of random exchanges.
        seed: seed of the exchanges.
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
    generator, size = np.random.default_rng(seed), len(changes)
    extreme = 0
    for block in _blocks(trials, size):
        bits = generator.integers(0, 256, size=(block, (size + 7) // 8), dtype=np.uint8)
        moved = np.unpackbits(bits, axis=1, count=size).astype(np.float64) @ changes
        difference = np.abs(metric(totals + moved) - metric(other_totals - moved))
        extreme += int((~(difference < observed - TOLERANCE)).sum())  # an undefined score counts as extreme
    return (extreme + 1) / (trials + 1)


def _blocks(trials: int, sentences: int) -> list[int]:
    """Return the numbers of trials that are computed together."""
    block = max(_BLOCK // max(sentences, 1), 1)
    return [min(block, trials - start) for start in range(0, trials, block)]


_EXACT = 50  # pairs


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test on paired scores of sentences or trials.

    Pairs with an undefined score (`nan`) and pairs without a difference are left out (Wilcoxon's own treatment of
    zeros); 1.0 if that leaves none. Differences that are equal up to rounding have the same rank. Exact for up to 50
    pairs without ties, else by the normal approximation, with the variance less what ties take from it.
    """
    ours, theirs = _paired(first, second, 1)
    differences = np.round(ours - theirs, 12)
    differences = differences[~np.isnan(differences) & (differences != 0)]
    if not len(differences):
        return 1.0
    sizes, at, counts = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[at]
    total, n = float(ranks[differences > 0].sum()), len(differences)
    if n > _EXACT or len(sizes) < n:
        ties = float((counts.astype(float) ** 3 - counts).sum())
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
        return math.erfc(abs(total - n * (n + 1) / 4) / spread / math.sqrt(2))
    ways = np.ones(1)  # [k]: how many sets of ranks have the sum k
    for rank in range(1, n + 1):
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    below = ways[: int(min(total, n * (n + 1) / 2 - total)) + 1].sum()
    return float(min(1.0, 2 * below / ways.sum()))


def _paired(first: ArrayLike, second: ArrayLike, dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ours, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if ours.shape != theirs.shape or ours.ndim != dimensions:
        raise ValueError(f"found shapes {ours.shape} and {theirs.shape}, expected two alike of {dimensions} dimensions")
    return ours, theirs


_SAMPLES, _LEVEL = 1000, 0.95


def interval(measure: Measure) -> tuple[float, float]:
    """Return the ends of the 95 % bootstrap percentile interval of a score, from 1000 samples (Efron 1979).

    A sample draws as many sentences as there are, with replacement. The ends are `nan` where the score is undefined in
    all samples.
    """
    counts = np.asarray(measure.counts, float)
    generator, size = np.random.default_rng(0), len(counts)
    if not size:
        return np.nan, np.nan
    even = np.full(size, 1 / size)
    scores = np.concatenate(
        [measure.metric(generator.multinomial(size, even, block) @ counts) for block in _blocks(_SAMPLES, size)]
    )
    if np.isnan(scores).all():
        return np.nan, np.nan
    low, high = np.nanquantile(scores, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def intervals(measures: Mapping[str, Measure]) -> dict[str, tuple[float, float]]:
    """Return the interval of each measure that has counts of several sentences."""
    return {name: interval(measure) for name, measure in measures.items() if len(measure.counts) > 1}
