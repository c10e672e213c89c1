"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagweave.reproduce.li_2015.methods import BASELINE, TWO_STAGE, Method
from tagweave.reproduce.li_2015.paper import FINDINGS, Finding
from tagweave.reproduce.li_2015.run import Run
from tagweave.reproduce.li_2015.scores import Counts, accuracies, compare
from tagweave.reproduce.li_2015.settings import Setting

REFERENCES = (BASELINE, TWO_STAGE)
"""The methods that every other one is tested against."""
LEVEL = 0.05
TRIALS = 10_000

_Measures = dict[str, Counts]


def summary(run: Run, command: str, trials: int = TRIALS) -> dict[str, Any]:
    """The numbers of a part; `command` is how to have them again."""
    return {
        "command": command,
        "part": run.part,
        "seeds": run.seeds,
        "trials": trials,
        "settings": [_of_setting(run, setting, trials) for setting in run.settings],
    }


def _of_setting(run: Run, setting: Setting, trials: int) -> dict[str, Any]:
    pair = setting.draw(0)
    counts = {method.name: run.counts(setting, method) for method in setting.methods}
    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": {"target": pair.target.sizes(), "source": _without_test(pair.source.sizes())},
        "sample": list(pair.sample),
        "budget": [pair.schedule.iterations, pair.schedule.patience],
        "methods": {method.name: _of_method(run, setting, method, counts, trials) for method in setting.methods},
        "findings": [
            _of_finding(finding, counts, trials)
            for finding in FINDINGS[run.part]
            if {finding.first.name, finding.second.name} <= counts.keys()
        ],
    }


def _of_method(run: Run, setting: Setting, method: Method, counts: dict[str, _Measures], trials: int) -> dict[str, Any]:
    results = run.of(setting, method)
    ours = counts[method.name]
    return {
        **{key: [result[key] for result in results] for key in ("labels", "weights", "seconds", "history")},
        "accuracy": {measure: _values(each) for measure, each in ours.items()},
        "against": {
            reference.name: {
                measure: compare(ours[measure], counts[reference.name][measure], trials)
                for measure in ours
                if measure != "dev"
            }
            for reference in REFERENCES
            if reference.name != method.name and reference.name in counts
        },
    }


def _without_test(sizes: dict[str, list[int]]) -> dict[str, list[int]]:
    return {part: size for part, size in sizes.items() if part != "test"}


def _values(counts: Counts) -> dict[str, Any]:
    values = accuracies(counts)
    return {"values": values, "mean": float(np.mean(values)), "deviation": float(np.std(values))}


def _of_finding(finding: Finding, counts: dict[str, _Measures], trials: int) -> dict[str, Any]:
    first, second = (counts[method.name][finding.measure] for method in (finding.first, finding.second))
    test = compare(first, second, trials)
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
