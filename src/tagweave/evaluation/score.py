"""Scores: counts of what is right, and the ratios that are read off them.

A score keeps its counts, so that scores of sentences add up and a ratio is taken only once, over the whole corpus. A
ratio over nothing is undefined: it is `nan`, not zero and not one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
"""Per sentence a row of counts; the last axis holds what a metric needs."""
Metric = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From counts of shape (..., K) to scores of shape (...); `nan` where the ratio is over nothing."""


class Measure(NamedTuple):
    """What a test of significance needs of a system: counts per sentence, and the score that is read off their sum."""

    counts: Counts
    metric: Metric


def ratio(part: float, whole: float) -> float:
    """`part / whole`, or `nan` where `whole` is 0."""
    return part / whole if whole else math.nan


def number(value: float) -> float | None:
    """The value as JSON can hold it: `None` for `nan`."""
    return None if math.isnan(value) else float(value)


@dataclass(frozen=True, slots=True)
class Score:
    """Right items among those of the gold standard and those of the system.

    Attributes:
        right: items of the system that are right.
        gold: items of the gold standard (the support).
        system: items of the system.
    """

    right: int
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
        """The harmonic mean of precision and recall, 0..1; 0 where one of them is undefined and the other is not."""
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
        """The share that is right, 0..1."""
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
