"""The plots of a part: bars of the accuracy on test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.lab.figures import bar, with_deviations
from reproductions.lab.paper import paper

_BARS = {
    "tagging": "People's Daily to Zhuxian",
    "narrowing": "Narrowed by taggers",
}


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    return [_bars(summary, folder)]


def _bars(summary: dict[str, Any], folder: Path) -> str:
    settings = summary["settings"]
    series = {
        name: with_deviations([setting["methods"][name]["scores"]["test"] for setting in settings])
        for name in (method.name for method in paper("li_2015").tables[summary["part"]][0].methods)
    }
    file = f"li-2015-{summary['part']}.png"
    bar(
        folder / file, [setting["name"] for setting in settings], series, score="accuracy", title=_BARS[summary["part"]]
    )
    return file
