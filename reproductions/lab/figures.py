"""Series of scores, for the plots of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tagweave.evaluation.plots import Series


def series(scores: Sequence[dict[str, Any]]) -> Series:
    """The mean over the seeds, and how far the farthest seed is from it."""
    farthest = [max(abs(value - each["mean"]) for value in each["values"]) for each in scores]
    return Series([each["mean"] for each in scores], farthest)


def with_deviations(scores: Sequence[dict[str, Any]]) -> Series:
    """The mean over the seeds, and their standard deviation."""
    return Series([each["mean"] for each in scores], [each["deviation"] for each in scores])
