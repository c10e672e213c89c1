"""The plots of a part: bars as of Table 4, curves over numbers of sentences as in Figures 3 and 4."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.figures import Series, bar, curve
from reproductions.lab.figures import series as with_seeds
from reproductions.lab.paper import Table, paper
from reproductions.liu_2014.methods import OWN_LIGHT

_FIGURES = {"raw-text": ("Figure 3", ("dev",)), "natural": ("Figure 4", ("test", "pages"))}
_SCORES = {"": "F of words", " OOV": "recall of unknown words"}


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    if summary["part"] == "own-words":
        return [_differences(summary, folder)]
    if summary["part"] not in _FIGURES:
        return [_bars(summary, folder)]
    title, parts = _FIGURES[summary["part"]]
    (figure,) = (each for each in paper("liu_2014").tables[summary["part"]] if each.title.startswith(title))
    chosen = [setting for setting in summary["settings"] if setting["name"] in figure.settings]
    every = product(chosen, parts, _SCORES)
    return [_curve(figure, setting, part + ending, folder) for setting, part, ending in every]


def _curve(figure: Table, setting: dict[str, Any], measure: str, folder: Path) -> str:
    """Scores over numbers of partially annotated sentences, the first of them none."""
    title, part, ending = figure.title.partition(":")[0], *measure.partition(" OOV")[:2]
    found = [setting["methods"][method.name] for method in figure.methods]
    sizes = [float(np.mean(each["sentences"])) for each in found]
    series = {f"{_SCORES[ending]} on {part}": with_seeds([each["scores"][measure] for each in found])}
    own = "pages" if part == "pages" else setting["name"]
    name = f"liu-2014-{title.lower().replace(' ', '-')}-{own}{'-oov' if ending else ''}.png"
    title = f"{title}: {'sentences of the pages' if part == 'pages' else setting['title']}"
    curve(folder / name, sizes, series, score=_SCORES[ending], axis="partially annotated sentences", title=title)
    return name


def _differences(summary: dict[str, Any], folder: Path) -> str:
    """How far each method is above the baseline, setting by setting."""
    settings = summary["settings"]
    first, *others = settings[0]["methods"]
    series = {
        name: Series([each["methods"][name]["against"][first]["test"]["difference"] for each in settings])
        for name in others
        if name not in {method.name for method in OWN_LIGHT}
    }
    name = f"liu-2014-{summary['part']}.png"
    title = "Beside the annotated sentences alone"
    bar(folder / name, [each["name"] for each in settings], series, score="F of words on test data", title=title)
    return name


def _bars(summary: dict[str, Any], folder: Path) -> str:
    (setting,) = summary["settings"]
    measures = [f"test{ending}" for ending in _SCORES]
    series = {
        name: with_seeds([found["scores"][measure] for measure in measures])
        for name, found in setting["methods"].items()
    }
    name = f"liu-2014-{summary['part']}.png"
    bar(folder / name, list(_SCORES.values()), series, score="x 100, on test", title=setting["title"])
    return name
