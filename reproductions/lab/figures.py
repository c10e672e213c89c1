"""Bars and curves of scores, with error bars, as PNG files, for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from tagweave.evaluation.plots import MARKERS, PALETTE, figure, readable

HATCHES = ("", "//", "..", "xx", "\\\\", "--", "oo", "++")
_LETTERS = 70  # of names below the bars, from which small ones do not overlap


@dataclass(frozen=True, slots=True)
class Series:
    """The scores of one system."""

    values: Sequence[float]  # N scores, one for each group of bars or point of the curve
    # N half lengths of the error bars, in the unit of the scores; `None` for no error bars
    errors: Sequence[float] | None = None


def bar(path: Path, groups: Sequence[str], series: Mapping[str, Series], *, score: str, title: str = "") -> None:
    """Draw groups of bars, each with a bar per system, and write them to `path` as PNG.

    The score axis starts at zero only if the scores are far apart: from zero, 94 and 95 would look the same.
    """
    with figure(path, series, score, title) as axes:
        width = 0.8 / len(series)
        for number, (name, data) in enumerate(series.items()):
            centres = [group + (number - (len(series) - 1) / 2) * width for group in range(len(groups))]
            style = {"color": PALETTE[number], "hatch": HATCHES[number], "edgecolor": "white"}
            axes.bar(centres, data.values, width, yerr=data.errors, capsize=3, label=readable(name), **style)
        names = [readable(group) for group in groups]
        is_full = len(names) * max(map(len, names), default=0) > _LETTERS
        axes.set_xticks(range(len(names)), names, fontsize="small" if is_full else None)
        axes.set_ylim(*_limits(series))
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)


def curve(
    path: Path, positions: Sequence[float], series: Mapping[str, Series], *, score: str, axis: str, title: str = ""
) -> None:
    """Draw a curve per system over `positions` (amounts of data, passes), and write them to `path` as PNG."""
    with figure(path, series, score, title) as axes:
        for number, (name, data) in enumerate(series.items()):
            style = {"color": PALETTE[number], "marker": MARKERS[number]}
            axes.errorbar(positions, data.values, data.errors, capsize=3, label=readable(name), **style)
        axes.set_xlabel(readable(axis))
        axes.grid(alpha=0.3)


def _limits(series: Mapping[str, Series]) -> tuple[float, float]:
    """Return the range of scores and error bars, with a margin of a quarter; from zero if that is near."""
    errors = chain.from_iterable(data.errors or [0.0] * len(data.values) for data in series.values())
    points = list(zip(chain.from_iterable(data.values for data in series.values()), errors, strict=True))
    low, high = min(value - error for value, error in points), max(value + error for value, error in points)
    margin = (high - low) / 4 or abs(high) / 100 or 1.0
    return (0.0 if 0 <= low <= high / 2 else low - margin), high + margin


def series(scores: Sequence[dict[str, Any]]) -> Series:
    """The mean over the seeds, and how far the farthest seed is from it."""
    farthest = [max(abs(value - each["mean"]) for value in each["values"]) for each in scores]
    return Series([each["mean"] for each in scores], farthest)


def with_deviations(scores: Sequence[dict[str, Any]]) -> Series:
    """The mean over the seeds, and their standard deviation."""
    return Series([each["mean"] for each in scores], [each["deviation"] for each in scores])
