"""The plots of a part: bars of Tables 8 and 9."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.jiang_2015.methods import PROBABILITIES, TIMED
from reproductions.jiang_2015.wording import WORDINGS
from reproductions.lab.figures import bar
from reproductions.lab.figures import series as with_seeds
from reproductions.lab.run import Named


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    score = WORDINGS[summary["structure"]].score
    return [name for setting in summary["settings"] for name in _models(setting, folder, score)]


def _models(setting: dict[str, Any], folder: Path, score: str) -> list[str]:
    parts = ("dev", "test")
    methods = [method for method in (*TIMED, *PROBABILITIES) if method.name in setting["methods"]]
    series = {method.name: with_seeds([_scores(setting, method)[part] for part in parts]) for method in methods}
    name = f"jiang-2015-{setting['name']}.png"
    bar(folder / name, parts, series, score=score, title=setting["title"])
    return [name]


def _scores(setting: dict[str, Any], method: Named) -> dict[str, Any]:
    scores: dict[str, Any] = setting["methods"][method.name]["scores"]
    return scores
