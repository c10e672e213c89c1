"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproductions.lab.comparison import TRIALS, Measures, against, judged
from reproductions.lab.run import Run, Setting
from reproductions.li_2015.measures import measures
from reproductions.li_2015.methods import BASELINE, TWO_STAGE, Method
from reproductions.li_2015.pair import Pair
from reproductions.li_2015.paper import FINDINGS

REFERENCES = (BASELINE, TWO_STAGE)
"""The methods that every other one is tested against."""


def summary(run: Run[Pair, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """The numbers of a part; `command` is how to have them again."""
    return {
        "command": command,
        "part": run.part,
        "seeds": run.seeds,
        "trials": trials,
        "settings": [_of_setting(run, setting, trials) for setting in run.settings],
    }


def _of_setting(run: Run[Pair, Method], setting: Setting[Pair, Method], trials: int) -> dict[str, Any]:
    pair = setting.draw(0)
    found = {method.name: measures(run, setting, method) for method in setting.methods}
    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": {"target": pair.target.sizes(), "source": _without_test(pair.source.sizes())},
        "sample": list(pair.sample),
        "budget": [pair.schedule.iterations, pair.schedule.patience],
        "methods": {
            method.name: {**_costs(run, setting, method), **_scores(method, found, trials)}
            for method in setting.methods
        },
        "findings": judged(FINDINGS[run.part], found, trials),
    }


def _costs(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Any]:
    results = run.of(setting, method)
    return {key: [result[key] for result in results] for key in ("labels", "weights", "seconds", "history")}


def _scores(method: Method, found: Mapping[str, Measures], trials: int) -> dict[str, Any]:
    return {
        "accuracy": {measure: each.to_json() for measure, each in found[method.name].items()},
        "against": against(method.name, found, REFERENCES, trials, lambda measure: measure != "dev"),
    }


def _without_test(sizes: dict[str, list[int]]) -> dict[str, list[int]]:
    return {part: size for part, size in sizes.items() if part != "test"}
