"""The plots of a part: bars as of Table 4, curves over numbers of sentences as in Figures 3 and 4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.figures import curve
from reproductions.lab.figures import series as with_seeds
from reproductions.lab.paper import Table, paper

_SCORES = {"": "F of words", " OOV": "recall of unknown words"}


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    (figure,) = paper("liu_2014").tables[summary["part"]]
    (setting,) = summary["settings"]
    return [_curve(figure, setting, f"dev{ending}", folder) for ending in _SCORES]


def _curve(figure: Table, setting: dict[str, Any], measure: str, folder: Path) -> str:
    """Scores over numbers of partially annotated sentences, the first of them none."""
    title, part, ending = figure.title.partition(":")[0], *measure.partition(" OOV")[:2]
    found = [setting["methods"][method.name] for method in figure.methods]
    sizes = [float(np.mean(each["sentences"])) for each in found]
    series = {f"{_SCORES[ending]} on {part}": with_seeds([each["scores"][measure] for each in found])}
    name = f"liu-2014-{title.lower().replace(' ', '-')}-{setting['name']}{'-oov' if ending else ''}.png"
    title = f"{title}: {setting['title']}"
    curve(folder / name, sizes, series, score=_SCORES[ending], axis="partially annotated sentences", title=title)
    return name
