"""The plot of a part, as Figure 3: F on C2 over the number of words that are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tagweave.evaluation.plots import Series, curve
from tagweave.reproduce.tsuboi_2008.methods import SOURCE


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the curves of a part into a folder, and give the file name; all begin with the model of A alone."""
    begin = summary["lines"][SOURCE.name]["f"]
    series = {
        name: Series([float("nan") if name.startswith("pointwise") else begin, *(point["f"] for point in points)])
        for name, points in summary["curves"].items()
    }
    file = f"tsuboi-2008-{summary['part']}.png"
    curve(folder / file, [0, *summary["sizes"]], series, score="F", axis="words marked", title="Figure 3")
    return [file]
