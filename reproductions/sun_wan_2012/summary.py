"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Measured, against, judged
from reproductions.lab.run import Run, Setting
from reproductions.lab.tagged_words import tagged_counts
from reproductions.sun_wan_2012.methods import CHARACTERS, PIECES, Method
from reproductions.sun_wan_2012.pair import Pair
from reproductions.sun_wan_2012.paper import FINDINGS
from tagweave.evaluation.score import Counts, f_of_counts


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
    pair, found = setting.draw(0), {method.name: measures(run, setting, method) for method in setting.methods}
    recipe = pair.recipe
    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": pair.sizes(),
        "recipe": {"learner": recipe.learner, **recipe.settings, "iterations": pair.schedule.iterations},
        "folds": [pair.folds, pair.large_folds],
        "methods": {
            method.name: {
                **_costs(run, setting, method),
                "shares": [method.target, method.source],
                "scores": {part: _scores(each) for part, each in found[method.name].items()},
                "against": against(method.name, found, _compared(method, setting.methods[:number]), trials),
            }
            for number, method in enumerate(setting.methods)
        },
        "findings": judged(FINDINGS[run.part], found, trials),
    }


def _compared(method: Method, above: tuple[Method, ...]) -> list[Method]:
    """The character tagger, and of those above with the same shares of the corpora sub-word tagging and the nearest."""
    same = [each for each in above if (each.target, each.source) == (method.target, method.source)]
    return list(dict.fromkeys([CHARACTERS, *(each for each in same if each is PIECES), *same[-1:]]))


def measures(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Measured]:
    """F of words with tags, on the data of each name."""
    gold, results = setting.draw(0).gold, run.of(setting, method)
    told = {part: "given" if method.given else part for part in gold}
    return {
        part: Measured(np.stack([tagged_counts(gold[part], each[told[part]]) for each in results]), f_of_counts)
        for part in gold
    }


def _scores(found: Measured) -> dict[str, Any]:
    """F as `Measured.to_json` has it, and the means of P and R."""
    totals = found.counts.sum(axis=1)
    return {**found.to_json(), "precision": _share(totals, 2), "recall": _share(totals, 1)}


def _share(totals: Counts, of: int) -> float:
    """The mean over seeds of right words among gold (1) or found ones (2), x 100."""
    return float(100 * np.mean(totals[:, 0] / np.maximum(totals[:, of], 1)))


def _costs(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Any]:
    return {
        key: [result[key] for result in run.of(setting, method)] for key in ("labels", "weights", "seconds", "history")
    }
