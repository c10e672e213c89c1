"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Finding, Measured, compare, judged, verdict
from reproductions.lab.run import Run
from reproductions.tsuboi_2008.domain import Domain
from reproductions.tsuboi_2008.methods import CURVES, LINES, PROPOSED, Curve, Method
from reproductions.tsuboi_2008.paper import FINDINGS
from reproductions.tsuboi_2008.scores import Scored, pooled, scored
from tagweave.evaluation.score import wilcoxon_test

_Found = Mapping[str, Sequence[Scored]]


def summary(run: Run[Domain, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """The numbers of a part; `command` is how to have them again."""
    found, domains = scored(run), [setting.draw(0) for setting in run.settings]
    sizes = sorted({method.size for method in run.settings[0].methods if method.choice})
    return {
        "command": command,
        "part": run.part,
        "seeds": run.seeds,
        "trials": trials,
        "budget": [domains[0].schedule.iterations, domains[0].schedule.patience],
        "folds": {setting.title: setting.draw(0).sizes() for setting in run.settings},
        "list": len(domains[0].words),
        "terms": [domain.terms for domain in domains],
        "sizes": sizes,
        "lines": {method.name: _numbers(found[method.name]) for method in LINES},
        "curves": {curve.name: [_numbers(found[curve.at(size).name]) for size in sizes] for curve in CURVES},
        **_tests(found, sizes, all(domain.test is domains[0].test for domain in domains), trials),
    }


def _tests(found: _Found, sizes: Sequence[int], one_test: bool, trials: int) -> dict[str, Any]:
    last = {curve.name: found[curve.at(sizes[-1]).name] for curve in CURVES}
    ends = {name: pooled([fold.words for fold in folds], one_test) for name, folds in last.items()}
    at_end = judged(FINDINGS, {name: {"test": each} for name, each in ends.items()}, trials)
    over_all = [_over_sizes(finding, found, sizes) for finding in FINDINGS]
    return {
        "against": {curve.name: _against(curve, found, ends, sizes, trials) for curve in CURVES if curve != PROPOSED},
        "findings": [*over_all, *({**each, "measure": f"{sizes[-1]:,} words"} for each in at_end)],
    }


def _numbers(folds: Sequence[Scored]) -> dict[str, Any]:
    """Means over folds and seeds; `values` are those of every fold and seed."""
    results = [result for fold in folds for result in fold.results]
    means = ("questions", "words", "score", "iterations", "seconds", "weights")
    return {
        "f": _f(folds),
        "values": [fold.words.values for fold in folds],
        "unknown": float(np.mean([fold.unknown for fold in folds])),
        **{key: float(np.mean([result[key] for result in results])) for key in means},
    }


def _f(folds: Sequence[Scored]) -> float:
    return float(np.mean([fold.words.values for fold in folds]))


def _pairs(curve: Curve, found: _Found, sizes: Sequence[int]) -> list[float]:
    """F of a curve in every fold at every size, the mean of the seeds."""
    points = (found[curve.at(size).name] for size in sizes)
    return [float(np.mean(fold.words.values)) for point in points for fold in point]


def _against(
    curve: Curve, found: _Found, ends: Mapping[str, Measured], sizes: Sequence[int], trials: int
) -> dict[str, Any]:
    """The proposed curve less another: over all sizes, and at the largest."""
    ours, theirs = _pairs(PROPOSED, found, sizes), _pairs(curve, found, sizes)
    last = compare(ends[PROPOSED.name], ends[curve.name], trials)
    return {
        "difference": float(np.mean(np.subtract(ours, theirs))),
        "wilcoxon": wilcoxon_test(ours, theirs),
        "last": last["difference"],
        "p": last["p_all"],
    }


def _over_sizes(finding: Finding, found: _Found, sizes: Sequence[int]) -> dict[str, Any]:
    """As `comparison.judged`, by Wilcoxon's test over the pairs of all folds and sizes."""
    first, second = (
        _pairs(curve, found, sizes) for curve in (finding.first, finding.second) if isinstance(curve, Curve)
    )
    difference, p = float(np.mean(np.subtract(first, second))), wilcoxon_test(first, second)
    told = {"text": finding.text, "paper": None, "measure": "all sizes", "difference": difference, "p_all": p}
    return {**told, "here": verdict(finding.sign, difference, p)}
