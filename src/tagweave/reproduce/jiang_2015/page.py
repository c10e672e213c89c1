"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tagweave.reproduce.jiang_2015.methods import BASELINE, MODEL_1, MODEL_2, MODEL_3, SOURCE
from tagweave.reproduce.jiang_2015.paper import TABLE_6, TABLE_8, TABLE_12
from tagweave.reproduce.page import findings, number_range, opening, significance, table

_TITLES = {"models": "Tables 6, 8 and 12", "predict-self": "Figures 7, 9 and 11", "sizes": "Figure 13"}
_PAIR = (
    "The paper adapts from 20,000 sentences of the People's Daily to the CTB, which is about as large, and newspaper as"
    " well. Here the target is a novel under the guideline of the CTB, an eighth as large: the two differ in their"
    " guideline and in their domain."
)
_MODELS = (
    "Model 1 is guided by the source model, which segments every text first. Model 2 is an ordinary model of the target"
    " corpus and the source corpus, transformed once. Model 3 is the same after iterative training with predict-self"
    " re-estimation: lambda is what is best on dev after one transformation, and then the number of rounds is."
)
_NOTES = {
    "models": (
        _PAIR,
        _MODELS,
        "Beside the paper's learner and features stand others, which are better here; there lambda is 0 or 0.3.",
    ),
    "predict-self": (
        _PAIR,
        "All final models are of the target corpus and the transformed source corpus. Lambda 0 is Model 2. `filtering`"
        " drops the sentences that do not lead back. The rounds with re-estimation take the lambda that is best on dev"
        " after one transformation. The paper has steps of 0.05 and 10 rounds.",
    ),
    "sizes": (
        _PAIR,
        "A seed draws the share of the target's training data. `Model 3, 1 round` is re-estimated with lambda 0.3,"
        " since every value, and every round, would cost as much as all else.",
    ),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    yield from opening(f"Jiang et al. (2015): {_TITLES[summary['part']]}", summary["command"])
    for note in _NOTES[summary["part"]]:
        yield f"{note}\n"
    yield from _setup(summary)
    for setting in summary["settings"]:
        yield f"\n## {setting['title']}\n"
        yield from _sizes(setting)
        yield from _of_part(summary["part"], setting)
        yield from findings(setting["findings"])
    if summary["part"] == "sizes":
        yield from _gains(summary["settings"])
    if plots:
        yield "\n## Plots\n"
        yield "Error bars reach as far as the seed that is farthest from the mean.\n"
        yield from (f"![{plot}]({plot})" for plot in plots)


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    iterations, patience = summary["settings"][0]["schedule"]
    yield (
        f"- Every training: at most {iterations} iterations, the one that is best on development data, stopped after"
        f" {patience} without a better one."
    )
    yield (
        "- Scores are F of words, x 100, means over the seeds; in brackets each seed. A seed draws the sentences of the"
        " source corpus, and the order of sentences."
    )
    yield significance(summary["trials"])


def _sizes(setting: dict[str, Any]) -> Iterator[str]:
    for side, sizes in setting["sizes"].items():
        told = "; ".join(f"{name} {a:,} sentences, {b:,} words" for name, (a, b) in sizes.items())
        yield f"- {side.capitalize()}: {told}."
    recipe = dict(setting["recipe"])
    learner, guide = recipe.pop("learner"), recipe.pop("guide")
    settings = "".join(f", {name} {value}" for name, value in recipe.items())
    yield f"- Learner: {learner}{settings}; guide features: {guide}.\n"


def _of_part(part: str, setting: dict[str, Any]) -> Iterator[str]:
    if part == "models":
        yield from _table_6(setting["methods"])
        yield from _table_8(setting)
        yield from _quicker(setting)
        yield from _table_12(setting["by tag"])
    else:
        title = "Figures 7, 9 and 11: lambda, rounds" if part == "predict-self" else "Figure 13: one of its sizes"
        yield from _scores(title, setting["methods"])


def _table_6(methods: dict[str, Any]) -> Iterator[str]:
    yield "### Table 6: each guideline's model on both\n"
    rows = []
    for method in (BASELINE, SOURCE):
        scores = methods[method.name]["scores"]
        rows.append([method.name, _score(scores["test"]), _score(scores["source test"]), *TABLE_6[method.name]])
    yield from table(["model", "target test", "source test", "paper: CTB", "paper: SPD"], rows)


def _table_8(setting: dict[str, Any]) -> Iterator[str]:
    yield "### Table 8: the models, and the time of decoding\n"
    rows = []
    for name, printed in TABLE_8.items():
        found, times = setting["methods"][name], setting["decoding"]["seconds"][name]
        speed = setting["decoding"]["characters"] / np.mean(times)
        scores = [_score(found["scores"][part]) for part in ("dev", "test")]
        tests = [_test(found["against"].get(each.name, {}).get("test")) for each in (BASELINE, MODEL_1)]
        rows.append([name, _way(found), *scores, *tests, f"{np.mean(times):.3f}", f"{speed:,.0f}", *printed])
    head = ["method", "rounds, lambda", "dev", "test", "to baseline, p", "to Model 1, p", "seconds", "characters/s"]
    yield from table([*head, "paper: test", "paper: seconds"], rows)
    yield (
        f"Seconds: of the {setting['decoding']['characters']:,} characters of the test data, from raw sentences to"
        " labels; one thread, the models in turn in one process, the best of several; means over the seeds.\n"
    )


def _quicker(setting: dict[str, Any]) -> Iterator[str]:
    """What a user asks: is the ordinary model as good as the cascade, and how much quicker?"""
    model_1, model_3 = (np.mean(setting["decoding"]["seconds"][each.name]) for each in (MODEL_1, MODEL_3))
    test = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"]
    yield (
        f"Model 3 takes {100 * model_3 / model_1:.0f} % of the time of Model 1 (paper: 30 %), and its F on test is"
        f" {test['difference']:+.2f} points from that of Model 1, p {test['p_all']:.4f} (paper: +0.30).\n"
    )


def _table_12(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "### Table 12: recall by the tag of the gold word\n"
    told = []
    for each in rows:
        numbers = [f"{each[name]:.2f}" for name in ("share", "first", "second")]
        trend = "↑" if each["second"] > each["first"] else "↓"
        told.append([each["tag"], *numbers, trend, *TABLE_12.get(each["tag"], ("-", "-", "-"))])
    printed = ("paper: share", "paper: baseline", "paper: adapted")
    yield from table(["tag", "share", "baseline", "Model 3", "trend", *printed], told)
    yield "Tags of more than 1 % of the words whose recall changes by more than 0.1 points, on test.\n"


def _scores(title: str, methods: dict[str, Any]) -> Iterator[str]:
    yield f"### {title}\n"
    rows = []
    for name, found in methods.items():
        scores = [_score(found["scores"][part]) for part in ("dev", "test")]
        beside = [
            _test(found["against"].get(each.name, {}).get(part))
            for each in (BASELINE, MODEL_2)
            for part in ("dev", "test")
        ]
        used = number_range(found["sentences"]) if "sentences" in found else "-"
        rows.append([name, _way(found), used, *scores, *beside])
    tests = [f"{part} to {each.name}, p" for each in (BASELINE, MODEL_2) for part in ("dev", "test")]
    yield from table(["method", "rounds, lambda", "source sentences", "dev", "test", *tests], rows)


def _gains(settings: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "\n## What adaptation brings, by the size of the target corpus\n"
    yield "The paper finds that it brings the more, the smaller the target corpus is (Figure 13).\n"
    rows = []
    for setting in settings:
        methods = [found for name, found in setting["methods"].items() if name != BASELINE.name]
        rows.append(
            [
                f"{setting['sizes']['target']['train'][0]:,}",
                _score(setting["methods"][BASELINE.name]["scores"]["test"]),
                *(_test(found["against"][BASELINE.name]["test"]) for found in methods),
            ]
        )
    names = [name for name in settings[0]["methods"] if name != BASELINE.name]
    yield from table(["sentences", BASELINE.name, *(f"{name} to it, p" for name in names)], rows)


def _way(found: Mapping[str, Any]) -> str:
    """How often a method transforms, and with which lambda, for every seed."""
    if "round" not in found:
        return "-"
    ways = zip(found["round"], found["way back"], strict=True)
    return "; ".join(dict.fromkeys(f"{number}, {share:g}" for number, share in ways))


def _score(found: Mapping[str, Any]) -> str:
    return f"**{found['mean']:.2f}** ({', '.join(f'{value:.2f}' for value in found['values'])})"


def _test(test: Mapping[str, Any] | None) -> str:
    return "-" if test is None else f"{test['difference']:+.2f}, {test['p_all']:.4f}"
