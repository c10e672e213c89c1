"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagweave.evaluation.score import f_of_counts
from tagweave.reproduce.comparison import TRIALS, Measured, against, judged
from tagweave.reproduce.jiang_2015.methods import BASELINE, DECODING, MODEL_1, MODEL_2, MODEL_3, SOURCE, TIMED, Method
from tagweave.reproduce.jiang_2015.pair import Pair
from tagweave.reproduce.jiang_2015.paper import FINDINGS
from tagweave.reproduce.jiang_2015.recall import by_tag
from tagweave.reproduce.run import Run, Setting
from tagweave.reproduce.words import word_counts

REFERENCES = (BASELINE, MODEL_1, MODEL_2)
"""The methods that every other one is tested against."""
Rivals = Setting[Pair, Method]


def summary(run: Run[Pair, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """The numbers of a part; `command` is how to have them again."""
    return {
        "command": command,
        "part": run.part,
        "seeds": run.seeds,
        "trials": trials,
        "settings": [_of_setting(run, setting, trials) for setting in run.settings],
    }


def _of_setting(run: Run[Pair, Method], setting: Rivals, trials: int) -> dict[str, Any]:
    pair = setting.draw(0)
    methods = [method for method in setting.methods if method is not DECODING]
    found = {method.name: measures(run, setting, method) for method in methods}
    return {
        "name": setting.name,
        "title": f"{setting.title}: {pair.name}",
        "sizes": pair.sizes(),
        "recipe": {"learner": pair.recipe.learner, "guide": pair.recipe.guide, **pair.recipe.settings},
        "schedule": [pair.schedule.iterations, pair.schedule.patience],
        "methods": {
            method.name: {
                **_course(run, setting, method),
                "scores": {measure: each.to_json() for measure, each in found[method.name].items()},
                "against": against(method.name, found, REFERENCES, trials, lambda measure: measure != "source test"),
            }
            for method in methods
        },
        "findings": judged(FINDINGS[run.part], found, trials),
        **(_of_models(run, setting) if DECODING in setting.methods else {}),
    }


def measures(run: Run[Pair, Method], setting: Rivals, method: Method) -> dict[str, Measured]:
    """F of words on `dev` and `test`; of the two models of Table 6 also on `source test`."""
    results = run.of(setting, method)
    golds = [setting.draw(seed).gold for seed in range(run.seeds)]
    parts = ["dev", "test", *(["source test"] if method in (BASELINE, SOURCE) else [])]
    return {
        part: Measured(
            np.stack([word_counts(gold[part], found[part]) for gold, found in zip(golds, results, strict=True)]),
            f_of_counts,
        )
        for part in parts
    }


def _course(run: Run[Pair, Method], setting: Rivals, method: Method) -> dict[str, Any]:
    results = run.of(setting, method)
    keys = ("weights", "seconds", "history", "round", "way back", "sentences")
    return {key: [result[key] for result in results] for key in keys if key in results[0]}


def _of_models(run: Run[Pair, Method], setting: Rivals) -> dict[str, Any]:
    """The time of decoding, and what becomes of words of every tag."""
    pair, results = setting.draw(0), run.of(setting, DECODING)
    outputs = [[result["test"] for result in run.of(setting, method)] for method in (BASELINE, MODEL_3)]
    best = {method.name: [min(result["seconds"][method.name]) for result in results] for method in TIMED}
    return {
        "decoding": {"characters": results[0]["characters"], "seconds": best},
        "by tag": by_tag(pair.target.test, outputs[0], outputs[1]),
    }
