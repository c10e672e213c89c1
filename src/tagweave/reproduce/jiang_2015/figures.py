"""The plots of a part: bars of Table 8, curves over lambda, over rounds, and over sizes of the target corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tagweave.evaluation.plots import Series, bar, curve
from tagweave.reproduce.jiang_2015.methods import (
    BASELINE,
    FILTERED,
    MODEL_1,
    ROUNDS,
    TIMED,
    WAYS_BACK,
    in_rounds,
    way_back,
)
from tagweave.reproduce.run import Named

_SCORE = "F of words"


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    if summary["part"] == "sizes":
        return [_by_size(summary["settings"], folder)]
    draw_one = _models if summary["part"] == "models" else _predict_self
    return [name for setting in summary["settings"] for name in draw_one(setting, folder)]


def _models(setting: dict[str, Any], folder: Path) -> list[str]:
    parts = ("dev", "test")
    series = {method.name: _series([_scores(setting, method)[part] for part in parts]) for method in TIMED}
    name = f"jiang-2015-{setting['name']}.png"
    bar(folder / name, parts, series, score=_SCORE, title=setting["title"])
    return [name]


def _predict_self(setting: dict[str, Any], folder: Path) -> list[str]:
    names = [f"jiang-2015-{setting['name']}-{what}.png" for what in ("lambda", "rounds")]

    def on_dev(methods: Sequence[Named]) -> Series:
        return _series([_scores(setting, method)["dev"] for method in methods])

    levels = {"filtering": FILTERED, "Model 1": MODEL_1, "baseline": BASELINE}
    by_lambda = {"re-estimation": on_dev([way_back(share) for share in WAYS_BACK])}
    by_lambda |= {name: on_dev([method] * len(WAYS_BACK)) for name, method in levels.items()}
    curve(folder / names[0], WAYS_BACK, by_lambda, score=f"{_SCORE}, dev", axis="lambda", title=setting["title"])
    rounds = range(1, ROUNDS + 1)
    by_round = {
        "with re-estimation": on_dev([in_rounds(number, True) for number in rounds]),
        "without": on_dev([in_rounds(number, False) for number in rounds]),
    }
    curve(folder / names[1], rounds, by_round, score=f"{_SCORE}, dev", axis="rounds", title=setting["title"])
    return names


def _by_size(settings: Sequence[dict[str, Any]], folder: Path) -> str:
    sizes = [setting["sizes"]["target"]["train"][0] for setting in settings]
    series = {
        method: _series([setting["methods"][method]["scores"]["test"] for setting in settings])
        for method in settings[0]["methods"]
    }
    name = "jiang-2015-sizes.png"
    curve(
        folder / name, sizes, series, score=f"{_SCORE}, test", axis="sentences of the target corpus", title="Figure 13"
    )
    return name


def _scores(setting: dict[str, Any], method: Named) -> dict[str, Any]:
    scores: dict[str, Any] = setting["methods"][method.name]["scores"]
    return scores


def _series(scores: Sequence[dict[str, Any]]) -> Series:
    """The mean over the seeds, and how far the farthest seed is from it."""
    farthest = [max(abs(value - each["mean"]) for value in each["values"]) for each in scores]
    return Series([each["mean"] for each in scores], farthest)
