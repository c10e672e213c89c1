"""The plots of a part: bars of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.lab.figures import bar
from reproductions.lab.figures import series as with_seeds

_SCORE = "F of words with tags"


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    return [_bars(summary["part"], setting, folder) for setting in summary["settings"]]


def _bars(part: str, setting: dict[str, Any], folder: Path) -> str:
    gold = list(next(iter(setting["methods"].values()))["scores"])
    series = {name: with_seeds([found["scores"][each] for each in gold]) for name, found in setting["methods"].items()}
    name = f"sun-wan-2012-{part}-{setting['name']}.png"
    bar(folder / name, gold, series, score=_SCORE, title=setting["title"])
    return name
