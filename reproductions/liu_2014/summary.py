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
from reproductions.liu_2014.list_evidence import of_lexicons
from reproductions.liu_2014.markup_evidence import of_markup
from reproductions.liu_2014.methods import (
    ALL,
    BASELINE,
    COLUMNS,
    LEXICON,
    NEW,
    OWN,
    OWN_CHOSEN,
    PHRASES,
    RANDOM,
    Method,
)
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import Counts, f_of_counts, share_of_counts

REFERENCES = (BASELINE, COLUMNS, LEXICON, PHRASES, RANDOM, ALL, OWN, NEW)
"""The methods that every other one that comes after them is tested against."""
KEPT = ("sentences", "marked", *COSTS)
OOV = " OOV"
"""What the names of measures of unknown words end in."""
ONES = " ones"
"""What those end in of how many words of one character are found for each that there is; all others are F of words."""


def summary(run: Run[Domain, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    return of_run(run, command, trials, _of_setting)


def _of_setting(run: Run[Domain, Method], setting: Setting[Domain, Method], trials: int) -> dict[str, Any]:
    domain = setting.draw(0)
    found = {method.name: measures(run, setting, method) for method in setting.methods}
    recipe = domain.recipe

    def before(method: Method) -> list[Method]:
        return _before(method, setting.methods)

    def wanted(measure: str) -> bool:
        return domain.words is None or not measure.endswith((OOV, ONES))

    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": domain.sizes(),
        "raw": len(domain.raw),
        "lexicon": len(domain.lexicon.words),
        "natural": [len(domain.natural.corpus), domain.natural.spans_of(domain.natural.corpus)],
        "recipe": {"learner": recipe.learner, **recipe.settings, "iterations": domain.schedule.iterations},
        "methods": of_methods(run, setting, found, before, trials, KEPT, wanted),
        "evidence": _evidence(run, setting),
        "findings": judged(paper("liu_2014").findings[run.part], found, trials),
    }


def _evidence(run: Run[Domain, Method], setting: Setting[Domain, Method]) -> dict[str, Any]:
    """What free annotation tells, where that is measured."""
    domain = setting.draw(0)
    baseline = run.of(setting, BASELINE)
    return {
        "markup": of_markup(domain, baseline) if "marked pages" in baseline[0] else {},
        "lists": of_lexicons(domain),
        "chosen": [each["chosen"] for each in run.of(setting, OWN_CHOSEN)] if OWN_CHOSEN in setting.methods else [],
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
        if domain.words is not None:
            found[part + ONES] = Measured(np.stack([_ones(gold, result[part]) for result in results]), share_of_counts)
    return found


def _ones(gold: Corpus, lines: Sequence[str]) -> Counts:
    """int64[S, 2]: the words of one character that were found in every sentence, and those that there are."""
    pairs = zip(gold, lines, strict=True)
    return np.array([[line.split().count("1"), sum(len(form) == 1 for form in each.forms)] for each, line in pairs])
