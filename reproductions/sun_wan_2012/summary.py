"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Measured, judged
from reproductions.lab.paper import paper
from reproductions.lab.run import Run, Setting
from reproductions.lab.summary import of_methods, of_run
from reproductions.lab.tagged_words import tagged_counts
from reproductions.sun_wan_2012.methods import CHARACTERS, PIECES, Method
from reproductions.sun_wan_2012.pair import Pair
from tagweave.evaluation.score import Counts, f_of_counts


def summary(run: Run[Pair, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    return of_run(run, command, trials, _of_setting)


def _of_setting(run: Run[Pair, Method], setting: Setting[Pair, Method], trials: int) -> dict[str, Any]:
    pair, found = setting.draw(0), {method.name: measures(run, setting, method) for method in setting.methods}
    recipe = pair.recipe
    methods = of_methods(run, setting, found, lambda each: _compared(each, setting.methods), trials)
    for name, measured in found.items():
        for part, each in measured.items():
            methods[name]["scores"][part] |= _shares(each)
    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": pair.sizes(),
        "recipe": {"learner": recipe.learner, **recipe.settings, "iterations": pair.schedule.iterations},
        "folds": pair.folds,
        "methods": methods,
        "findings": judged(paper("sun_wan_2012").findings[run.part], found, trials),
    }


def _compared(method: Method, methods: tuple[Method, ...]) -> list[Method]:
    """The character tagger, and of those above sub-word tagging and the nearest."""
    above = methods[: methods.index(method)]
    return list(dict.fromkeys([CHARACTERS, *(each for each in above if each is PIECES), *above[-1:]]))


def measures(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Measured]:
    """F of words with tags, on the data of each name."""
    gold, results = setting.draw(0).gold, run.of(setting, method)
    return {
        part: Measured(np.stack([tagged_counts(gold[part], each[part]) for each in results]), f_of_counts)
        for part in gold
    }


def _shares(found: Measured) -> dict[str, Any]:
    """The means of P and R."""
    totals = found.counts.sum(axis=1)
    return {"precision": _share(totals, 2), "recall": _share(totals, 1)}


def _share(totals: Counts, of: int) -> float:
    """The mean over seeds of right words among gold (1) or found ones (2), x 100."""
    return float(100 * np.mean(totals[:, 0] / np.maximum(totals[:, of], 1)))
