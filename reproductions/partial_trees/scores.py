"""The scores of parsers on partial trees, and what they bear out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Finding, Measured, judged
from reproductions.lab.run import Run, Setting
from reproductions.lab.summary import of_methods, of_run
from reproductions.partial_trees.settings import (
    ARGMAX,
    ARGMAX_OF_MARGINAL,
    DISCARD,
    LOCAL,
    MARGINAL,
    PERCEPTRON,
    Method,
    Partial,
    with_heads,
)
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.attachment import attachment
from tagweave.evaluation.score import Counts, share_of_counts

NO_PUNCTUATION = "test, no punctuation"
FINDINGS = (
    Finding("partial trees are worth having", MARGINAL, DISCARD, 1),
    Finding("marginal likelihood is better than filling in by a first parser", MARGINAL, ARGMAX, 1),
    Finding("it is better than filling in by itself", MARGINAL, ARGMAX_OF_MARGINAL, 1),
    Finding("it is better than single decisions", MARGINAL, LOCAL, 1),
    Finding("of what learns from partial trees as they are it is the best", MARGINAL, PERCEPTRON, 1),
)
"""The last two are those of Zhang et al. (2017) in their abstract, the others what one would expect."""

_COURSE = ("history", "seconds", "sentences", "known", "unused", "filled")


def summary(run: Run[Partial, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    bank = run.settings[0].draw(0).bank
    return of_run(
        run,
        command,
        trials,
        _of_setting,
        data=bank.name,
        sizes=bank.parts.sizes(),
        schedule=[bank.schedule.iterations, bank.schedule.patience],
        whole=max(setting.draw(0).whole for setting in run.settings),
    )


def _of_setting(run: Run[Partial, Method], setting: Setting[Partial, Method], trials: int) -> dict[str, Any]:
    given = setting.draw(0)
    found = {method.name: measures(given, run.of(setting, method)) for method in setting.methods}
    return {
        "name": setting.name,
        "title": setting.title,
        "share": given.share,
        "methods": of_methods(run, setting, found, lambda _: [MARGINAL], trials, _COURSE),
        "findings": judged(FINDINGS, found, trials) if given.share < 1 else [],
    }


def measures(given: Partial, results: Sequence[dict[str, Any]]) -> dict[str, Measured]:
    """UAS on dev and test with all tokens, and on test without punctuation."""
    parts = given.bank.parts
    wanted = {"dev": ("dev", parts.dev, True), "test": ("test", parts.test, True)}
    wanted[NO_PUNCTUATION] = ("test", parts.test, False)
    return {
        name: Measured(np.stack([_counts(gold, result[part], marks) for result in results]), share_of_counts)
        for name, (part, gold, marks) in wanted.items()
    }


def _counts(gold: Corpus, heads: Sequence[str], punctuation: bool) -> Counts:
    """int64[S, 2]: right and scored tokens of every sentence."""
    system = with_heads(gold, [list(map(int, line.split())) for line in heads])
    return attachment(gold, system, punctuation).head_counts[:, :2]
