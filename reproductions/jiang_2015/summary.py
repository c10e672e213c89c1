"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.jiang_2015.methods import BASELINE, DECODING, MODEL_1, MODEL_2, MODEL_3, SOURCE, TIMED, Method
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.paper import FINDINGS
from reproductions.jiang_2015.recall import LEAST_SHARE, by_kind
from reproductions.lab.comparison import TRIALS, Measured, judged
from reproductions.lab.run import Run, Setting
from reproductions.lab.summary import of_methods, of_run

REFERENCES = (BASELINE, MODEL_1, MODEL_2)
"""The methods that every other one is tested against."""
COURSE = ("weights", "seconds", "history", "round", "way back", "sentences")
Rivals = Setting[Pair, Method]


def summary(run: Run[Pair, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    return of_run(run, command, trials, _of_setting, structure=run.settings[0].draw(0).structure.name)


def _of_setting(run: Run[Pair, Method], setting: Rivals, trials: int) -> dict[str, Any]:
    pair = setting.draw(0)
    methods = [method for method in setting.methods if method is not DECODING]
    found = {method.name: measures(run, setting, method) for method in methods}
    return {
        "name": setting.name,
        "title": f"{setting.title}: {pair.name}",
        "sizes": pair.sizes(),
        "recipe": pair.structure.told(),
        "ways": [list(pair.ways_back), pair.rounds],
        "schedule": [pair.schedule.iterations, pair.schedule.patience],
        "methods": of_methods(run, setting, found, lambda _: REFERENCES, trials, COURSE, _of_target),
        "findings": judged(FINDINGS[run.part], found, trials),
        **(_of_models(run, setting) if DECODING in setting.methods else {}),
    }


def measures(run: Run[Pair, Method], setting: Rivals, method: Method) -> dict[str, Measured]:
    """Each measure on `dev` and `test`; of the two models of Tables 6 and 7 also on `source test`."""
    trials = [(setting.draw(seed), result) for seed, result in enumerate(run.of(setting, method))]
    parts = ["dev", "test", *(["source test"] if method in (BASELINE, SOURCE) else [])]
    return {
        part + suffix: Measured(
            np.stack([measure.counts(pair.gold[part], found[part]) for pair, found in trials]),
            measure.metric,
        )
        for suffix, measure in trials[0][0].structure.measures.items()
        for part in parts
    }


def _of_target(measure: str) -> bool:
    return not measure.startswith("source")


def _of_models(run: Run[Pair, Method], setting: Rivals) -> dict[str, Any]:
    """The time of decoding, and what becomes of items of every kind."""
    pair, results = setting.draw(0), run.of(setting, DECODING)
    unit = pair.structure.unit
    outputs = [[result["test"] for result in run.of(setting, method)] for method in (BASELINE, MODEL_3)]
    best = {method.name: [min(result["seconds"][method.name]) for result in results] for method in TIMED}
    return {
        "decoding": {"unit": unit, "length": results[0][unit], "seconds": best},
        "by tag": {
            "rows": by_kind(pair.structure, pair.target.test, *outputs),
            "least share": LEAST_SHARE,
            "least change": pair.structure.least_change,
        },
    }
