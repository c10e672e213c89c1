"""The plots of a part: bars of Tables 8 and 9, curves over lambda, over rounds, and over sizes of the target corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reproductions.jiang_2015.methods import (
    BASELINE,
    CONVERSION,
    FILTERED,
    MODEL_1,
    PROBABILITIES,
    TIMED,
    in_rounds,
    way_back,
)
from reproductions.jiang_2015.wording import WORDINGS
from reproductions.lab.figures import Series, bar, curve
from reproductions.lab.figures import series as with_seeds
from reproductions.lab.run import Named


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """Draw the plots of a part into a folder, and give their file names."""
    score = WORDINGS[summary["structure"]].score
    if summary["part"].endswith("sizes"):
        return [_by_size(summary, folder, score)]
    draw_one = _predict_self if summary["part"].endswith("predict-self") else _models
    return [name for setting in summary["settings"] for name in draw_one(setting, folder, score)]


def _models(setting: dict[str, Any], folder: Path, score: str) -> list[str]:
    parts = ("dev", "test")
    methods = [method for method in (*TIMED, *PROBABILITIES, CONVERSION) if method.name in setting["methods"]]
    series = {method.name: with_seeds([_scores(setting, method)[part] for part in parts]) for method in methods}
    name = f"jiang-2015-{setting['name']}.png"
    bar(folder / name, parts, series, score=score, title=setting["title"])
    return [name]


def _predict_self(setting: dict[str, Any], folder: Path, score: str) -> list[str]:
    ways_back, most = setting["ways"]
    names = [f"jiang-2015-{setting['name']}-{what}.png" for what in ("lambda", "rounds")]

    def on_dev(methods: Sequence[Named]) -> Series:
        return with_seeds([_scores(setting, method)["dev"] for method in methods])

    levels = {"filtering": FILTERED, "Model 1": MODEL_1, "baseline": BASELINE}
    by_lambda = {"re-estimation": on_dev([way_back(share) for share in ways_back])}
    by_lambda |= {name: on_dev([method] * len(ways_back)) for name, method in levels.items()}
    curve(folder / names[0], ways_back, by_lambda, score=f"{score}, dev", axis="lambda", title=setting["title"])
    rounds = range(1, most + 1)
    by_round = {
        "with re-estimation": on_dev([in_rounds(number, True) for number in rounds]),
        "without": on_dev([in_rounds(number, False) for number in rounds]),
    }
    curve(folder / names[1], rounds, by_round, score=f"{score}, dev", axis="rounds", title=setting["title"])
    return names


def _by_size(summary: dict[str, Any], folder: Path, score: str) -> str:
    settings = summary["settings"]
    sizes = [setting["sizes"]["target"]["train"][0] for setting in settings]
    series = {
        method: with_seeds([setting["methods"][method]["scores"]["test"] for setting in settings])
        for method in settings[0]["methods"]
    }
    name = f"jiang-2015-{summary['part']}.png"
    axis = "sentences of the target corpus"
    curve(folder / name, sizes, series, score=f"{score}, test", axis=axis, title="What adaptation brings")
    return name


def _scores(setting: dict[str, Any], method: Named) -> dict[str, Any]:
    scores: dict[str, Any] = setting["methods"][method.name]["scores"]
    return scores
