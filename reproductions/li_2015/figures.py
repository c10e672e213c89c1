"""The plots of a part: curves of the accuracy on dev as in Figures 3 and 4, bars of the accuracy on test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.figures import Series, bar, curve, with_deviations
from reproductions.lab.paper import paper
from reproductions.li_2015.scores import HARD

_CURVES = {"mappings": ("Figure 3", "figure-3"), "weighting": ("Figure 4", "figure-4")}
_BARS = {
    "tagging": "People's Daily to Zhuxian",
    "english": "Brown to WSJ",
    "conversion": "The least certain 20% of the tokens",
    "narrowing": "Narrowed by taggers",
    "belief": "How far to believe a conversion",
}


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    part = summary["part"]
    return [_curves(summary, folder)] if part in _CURVES else [_bars(summary, folder)]


def _curves(summary: dict[str, Any], folder: Path) -> str:
    """The accuracy on dev of every iteration; a curve ends where the training of a seed ended."""
    title, name = _CURVES[summary["part"]]
    (figure,) = (each for each in paper("li_2015").tables[summary["part"]] if each.title.startswith(title))
    (setting,) = summary["settings"]
    means = {method.name: _mean(setting["methods"][method.name]["history"]) for method in figure.methods}
    longest = max(map(len, means.values()))
    series = {name: Series([*mean, *[np.nan] * (longest - len(mean))]) for name, mean in means.items()}
    file = f"li-2015-{name}.png"
    curve(folder / file, range(1, longest + 1), series, score="accuracy on dev", axis="iteration", title=title)
    return file


def _mean(histories: list[list[float]]) -> list[float]:
    """The mean over the seeds, as far as all of them go."""
    return [100 * float(np.mean(scores)) for scores in zip(*histories, strict=False)]


def _bars(summary: dict[str, Any], folder: Path) -> str:
    measure = HARD if summary["part"] == "conversion" else "test"
    settings = summary["settings"]
    series = {
        name: with_deviations([setting["methods"][name]["scores"][measure] for setting in settings])
        for name in (method.name for method in paper("li_2015").tables[summary["part"]][0].methods)
    }
    file = f"li-2015-{summary['part']}.png"
    bar(
        folder / file, [setting["name"] for setting in settings], series, score="accuracy", title=_BARS[summary["part"]]
    )
    return file
