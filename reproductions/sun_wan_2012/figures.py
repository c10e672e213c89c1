"""The plots of a part: bars of its tables, and curves over sizes of the corpora as Table 3 has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.lab.figures import bar, curve
from reproductions.lab.figures import series as with_seeds
from reproductions.sun_wan_2012.likeness import LIKENESS
from reproductions.sun_wan_2012.methods import (
    AGAIN,
    CHARACTERS,
    CHARACTERS_AGAIN,
    GUIDED,
    LIKE_SHARES,
    PIECES,
    SOURCE_SHARES,
    TARGET_SHARES,
    Method,
    alike,
    sampled,
    with_source,
    with_target,
)

_SCORE = "F of words with tags"


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    if summary["part"] == "learning-curve":
        return [_source_curve(summary, folder), _target_curve(summary, folder)]
    if summary["part"] == "retraining":
        return [_retrained(setting, folder) for setting in summary["settings"]]
    if summary["part"] == "likeness":
        return [_alike(setting, folder) for setting in summary["settings"]]
    return [_bars(summary["part"], setting, folder) for setting in summary["settings"]]


def _bars(part: str, setting: dict[str, Any], folder: Path) -> str:
    gold = list(next(iter(setting["methods"].values()))["scores"])
    series = {name: with_seeds([found["scores"][each] for each in gold]) for name, found in setting["methods"].items()}
    name = f"sun-wan-2012-{part}-{setting['name']}.png"
    bar(folder / name, gold, series, score=_SCORE, title=setting["title"])
    return name


def _retrained(setting: dict[str, Any], folder: Path) -> str:
    """What is trained again, from all that is relabelled and from samples of it."""
    ways = {"all": AGAIN, "sampled": tuple(map(sampled, AGAIN))}
    scores = {name: found["scores"] for name, found in setting["methods"].items()}
    series = {
        f"{way}, {gold}": with_seeds([scores[method.name][gold] for method in methods])
        for gold in scores[CHARACTERS.name]
        for way, methods in ways.items()
    }
    name = f"sun-wan-2012-retraining-{setting['name']}.png"
    groups = [method.name.replace(", ", ",\n") for method in AGAIN]
    bar(folder / name, groups, series, score=_SCORE, title=f"{setting['title']}, trained again")
    return name


def _alike(setting: dict[str, Any], folder: Path) -> str:
    """Trained again on a share of what is relabelled, chosen in several ways."""
    scores = {name: found["scores"] for name, found in setting["methods"].items()}
    series = {
        f"{like}, {gold}": with_seeds(
            [scores[alike(CHARACTERS_AGAIN, like, share).name][gold] for share in LIKE_SHARES]
        )
        for gold in scores[CHARACTERS.name]
        for like in LIKENESS
    }
    name = f"sun-wan-2012-likeness-{setting['name']}.png"
    groups = [f"1/{round(1 / share)} of D'" for share in LIKE_SHARES]
    bar(folder / name, groups, series, score=_SCORE, title=f"{setting['title']}, {CHARACTERS_AGAIN.name}")
    return name


def _source_curve(summary: dict[str, Any], folder: Path) -> str:
    (setting,) = summary["settings"]
    rivals = {each.name: [with_source(each, share) for share in SOURCE_SHARES] for each in (GUIDED, PIECES)}
    rivals[CHARACTERS.name] = [CHARACTERS] * len(SOURCE_SHARES)  # knows nothing of the source
    return _curve(setting, rivals, "source", [setting["sizes"]["source"][0] * share for share in SOURCE_SHARES], folder)


def _target_curve(summary: dict[str, Any], folder: Path) -> str:
    (setting,) = summary["settings"]
    shares = (*TARGET_SHARES, 1.0)
    rivals = {each.name: [with_target(each, share) for share in shares] for each in (GUIDED, PIECES, CHARACTERS)}
    return _curve(setting, rivals, "target", [setting["sizes"]["target"][0] * share for share in shares], folder)


def _curve(
    setting: dict[str, Any], rivals: dict[str, list[Method]], corpus: str, sizes: list[float], folder: Path
) -> str:
    series = {
        name: with_seeds([setting["methods"][method.name]["scores"]["dev"] for method in methods])
        for name, methods in rivals.items()
    }
    name = f"sun-wan-2012-learning-curve-{corpus}.png"
    title = f"Table 3: {setting['title']}, development data"
    curve(folder / name, sizes, series, score=_SCORE, axis=f"{corpus} sentences", title=title)
    return name
