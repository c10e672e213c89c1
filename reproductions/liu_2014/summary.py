"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Measured, judged
from reproductions.lab.paper import paper
from reproductions.lab.run import Run, Setting
from reproductions.lab.summary import COSTS, of_methods, of_run
from reproductions.lab.words import unknown_counts, word_counts
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import BASELINE, PHRASES, Method
from tagweave.evaluation.score import f_of_counts, share_of_counts

REFERENCES = (BASELINE, PHRASES)
"""The methods that every other one that comes after them is tested against."""
KEPT = ("sentences", "marked", *COSTS)
OOV = " OOV"
"""What the names of measures of unknown words end in."""


def summary(run: Run[Domain, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    return of_run(run, command, trials, _of_setting)


def _of_setting(run: Run[Domain, Method], setting: Setting[Domain, Method], trials: int) -> dict[str, Any]:
    domain = setting.draw(0)
    found = {method.name: measures(run, setting, method) for method in setting.methods}
    recipe = domain.recipe

    def before(method: Method) -> list[Method]:
        return _before(method, setting.methods)

    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": domain.sizes(),
        "raw": len(domain.raw),
        "lexicon": len(domain.lexicon.words),
        "recipe": {"learner": recipe.learner, **recipe.settings, "iterations": domain.schedule.iterations},
        "methods": of_methods(run, setting, found, before, trials, KEPT),
        "findings": judged(paper("liu_2014").findings[run.part], found, trials),
    }


def _before(method: Method, methods: Sequence[Method]) -> list[Method]:
    return [each for each in methods[: methods.index(method)] if each in REFERENCES]


def measures(run: Run[Domain, Method], setting: Setting[Domain, Method], method: Method) -> dict[str, Measured]:
    """F of words on `dev` and `test`, and with the ending `OOV` the recall of words that the source corpus lacks."""
    domain, results = setting.draw(0), run.of(setting, method)
    found: dict[str, Measured] = {}
    for part, gold in domain.gold.items():
        words = [word_counts(gold, result[part]) for result in results]
        unknown = [unknown_counts(gold, result[part], domain.known) for result in results]
        found[part] = Measured(np.stack(words), f_of_counts)
        found[part + OOV] = Measured(np.stack(unknown), share_of_counts)
    return found
