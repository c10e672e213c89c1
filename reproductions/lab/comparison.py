"""Methods compared: their scores for every seed, whether two differ, and whether that bears out what a paper finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reproductions.lab.run import Named
from tagweave.evaluation.score import Counts, Metric, randomisation_test

LEVEL = 0.05
"""Differences with a smaller p are significant."""
TRIALS = 10_000
"""Of a test of significance."""


@dataclass(frozen=True)
class Measured:
    """What a method got right, with several seeds.

    Attributes:
        counts: int64[seeds, S, K], a row a sentence.
        metric: the score from summed counts.
    """

    counts: Counts
    metric: Metric

    @property
    def values(self) -> list[float]:
        """The score of every seed, x 100."""
        return [100 * float(self.metric(seed.sum(axis=0))) for seed in self.counts]

    def to_json(self) -> dict[str, Any]:
        """The scores of the seeds, their mean and their standard deviation."""
        values = self.values
        return {"values": values, "mean": float(np.mean(values)), "deviation": float(np.std(values))}


Measures = Mapping[str, Measured]
"""Of one method, by the name of what is measured."""


def compare(first: Measured, second: Measured, trials: int = TRIALS) -> dict[str, Any]:
    """Two methods, the same seeds: the mean difference of scores (x 100), p of every seed, and p over all seeds."""
    differences = [a - b for a, b in zip(first.values, second.values, strict=True)]
    p, p_all = randomisation_tests(first.counts, second.counts, first.metric, trials)
    return {"difference": float(np.mean(differences)), "p": p, "p_all": p_all}


def against(
    name: str,
    found: Mapping[str, Measures],
    references: Sequence[Named],
    trials: int,
    wanted: Callable[[str], bool] = lambda _: True,
) -> dict[str, Any]:
    """A method compared with each of the references that there are, by every measure that is wanted."""
    others = [reference.name for reference in references if reference.name != name and reference.name in found]
    measures = [measure for measure in found[name] if wanted(measure)]
    return {
        other: {measure: compare(found[name][measure], found[other][measure], trials) for measure in measures}
        for other in others
    }


class Finding(NamedTuple):
    """What a paper says of two methods.

    Attributes:
        text: the statement.
        first, second: the methods; `first` is better where `sign` is +1, worse where it is -1.
        sign: -1 or +1; 0: there is hardly a difference.
        difference: of the scores on the test data, where the paper has it.
        measure: on which of our measures it is tested.
    """

    text: str
    first: Named
    second: Named
    sign: int
    difference: float | None = None
    measure: str = "test"


def judged(findings: Sequence[Finding], found: Mapping[str, Measures], trials: int = TRIALS) -> list[dict[str, Any]]:
    """Those of the findings whose methods and measure there are, each with the difference here and whether it is so."""
    return [
        _judged(finding, found[finding.first.name], found[finding.second.name], trials)
        for finding in findings
        if {finding.first.name, finding.second.name} <= found.keys() and finding.measure in found[finding.first.name]
    ]


def _judged(finding: Finding, first: Measures, second: Measures, trials: int) -> dict[str, Any]:
    test = compare(first[finding.measure], second[finding.measure], trials)
    return {
        "text": finding.text,
        "measure": finding.measure,
        "paper": finding.difference,
        **test,
        "here": verdict(finding.sign, test["difference"], test["p_all"]),
    }


def verdict(sign: int, difference: float, p: float) -> str:
    """Whether a difference bears out a statement about its sign."""
    if sign == 0:
        return "yes" if p >= LEVEL else "no"
    if p >= LEVEL:
        return "the same sign, not significant" if difference * sign > 0 else "no, no significant difference"
    return "yes" if difference * sign > 0 else "no, the reverse"


def randomisation_tests(
    first: Counts, second: Counts, metric: Metric, trials: int = TRIALS
) -> tuple[list[float], float]:
    """The p-value for every seed, and the p-value over all seeds, of two systems trained with the same seeds.

    The test over all seeds adds up the counts of a sentence and exchanges them together, because sentences are the
    sample: the seeds are not independent observations of a sentence.

    Args:
        first: counts of the first system, (seeds, S, K), as `randomisation_test` takes them for each seed.
        second: those of the second.
        metric: computes the score from summed counts.
        trials: number of random exchanges.

    Raises:
        ValueError: as `randomisation_test`.
    """
    each = [randomisation_test(a, b, metric, trials) for a, b in zip(first, second, strict=True)]
    return each, randomisation_test(first.sum(axis=0), second.sum(axis=0), metric, trials)
