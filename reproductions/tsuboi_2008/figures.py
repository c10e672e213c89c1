"""The plot of a part, as Figure 3: F on C2 over the number of words that are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.lab.figures import Series, curve
from reproductions.tsuboi_2008.methods import CURVES, POINTWISE_SOURCE, SOURCE, Curve


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the curves of a part into a folder, and give the file name; all begin with a model of A alone."""
    series = {
        each.name: Series([_begin(each, summary), *(point["f"] for point in summary["curves"][each.name])])
        for each in CURVES
    }
    file = f"tsuboi-2008-{summary['part']}.png"
    curve(folder / file, [0, *summary["sizes"]], series, score="F", axis="words marked", title="Figure 3")
    return [file]


def _begin(each: Curve, summary: dict[str, Any]) -> float:
    line = POINTWISE_SOURCE if each.treatment == POINTWISE_SOURCE.treatment else SOURCE
    return float(summary["lines"][line.name]["f"])
