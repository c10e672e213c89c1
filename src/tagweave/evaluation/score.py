"""Scores: counts of right items, and ratios computed from them.

A score keeps its counts, so that the scores of sentences add up and the ratio is computed once, over the whole corpus.
A ratio with denominator 0 is undefined, that is, `nan`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
