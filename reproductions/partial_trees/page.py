"""The page of the experiment and its plots, drawn from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.figures import curve, with_deviations
from reproductions.lab.page import number_range, opening, score, significance, table, test
from reproductions.partial_trees.scores import NO_PUNCTUATION
from reproductions.partial_trees.settings import MARGINAL

_METHODS = (
    "- Methods: `marginal` learns from the known heads alone, by the likelihood of all projective trees that have them."
    " `discard` learns from the whole sentences alone. `argmax` learns from trees whose unknown heads the parser of"
    " `discard` has filled in, `argmax of marginal` from those that the parser of `marginal` has. `local` takes every"
    " known head for a decision of its own, and decodes trees. All of these learn by AdaGrad. `perceptron` is the"
    " averaged one: its target is the best tree with the known heads; `perceptron, argmax of marginal` learns from the"
    " completed trees."
)


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    yield from opening("Partial trees", summary["command"])
    yield from _setup(summary)
    for setting in summary["settings"]:
        yield f"\n## {setting['title']}\n"
        yield _given(setting)
        yield from _scores(setting)
        yield from _findings(setting["findings"])
    if plots:
        yield "\n## Plots\n"
        yield from (f"![{plot}](pictures/{plot})" for plot in plots)
        yield "\nMeans over the seeds; error bars are standard deviations.\n"


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    sizes = "; ".join(f"{name} {a:,} sentences, {b:,} tokens" for name, (a, b) in summary["sizes"].items())
    iterations, patience = summary["schedule"]
    yield "After Zhang, Li, Lang, Xia and Zhang (2017), Dependency Parsing with Partial Annotations.\n"
    yield f"- Data: {summary['data']}: {sizes}. Heads are taken away in training alone; relations are not looked at."
    yield (
        f"- Whole sentences are the first {summary['whole']:,} of the training part, in every setting that has some and"
        " with every seed. The share of heads is that of the tokens of all other sentences. The least certain ones are,"
        " sentence by sentence, those whose likeliest head has the least probability by the parser of `discard`."
    )
    yield _METHODS
    yield (
        f"- Every training: at most {iterations} iterations, the one that is best on dev, stopped after {patience}"
        " without a better one; the learner's settings are the parser's defaults for all."
    )
    yield (
        "- Scores are UAS with punctuation, x 100, means over the seeds; in brackets each seed. A seed draws the heads"
        " that are kept and the order of sentences."
    )
    yield significance(summary["trials"])
    yield (
        "- `right`: of the heads that were filled in, those that are right. Seconds are of one processor, for all"
        " trainings of a method; decoding for filling in is not counted."
    )


def _given(setting: dict[str, Any]) -> str:
    first = setting["methods"][MARGINAL.name]
    told = f"Known heads: {number_range(first['known'])}."
    if any(first["unused"]):
        told += f" Sentences left out, as no projective tree has their heads: {number_range(first['unused'])}."
    return f"{told}\n"


def _scores(setting: dict[str, Any]) -> Iterator[str]:
    rows = [_row(name, found) for name, found in setting["methods"].items()]
    head = ["method", "sentences", "dev", "test", NO_PUNCTUATION, f"test to `{MARGINAL.name}`", "p, all seeds"]
    yield from table([*head, "right", "iterations", "seconds"], rows)


def _row(name: str, found: dict[str, Any]) -> list[str]:
    scores = found["scores"]
    beside = test(found["against"].get(MARGINAL.name, {}).get("test"))
    right = "-" if found["filled"][0] is None else f"{100 * np.mean(found['filled']):.2f}"
    iterations = number_range([len(history) for history in found["history"]])
    cells = [name, number_range(found["sentences"]), f"{scores['dev']['mean']:.2f}", score(scores["test"])]
    cells += [f"{scores[NO_PUNCTUATION]['mean']:.2f}", *beside, right, iterations]
    return [*cells, f"{np.mean(found['seconds']):.0f}"]


def _findings(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    rows = [[each["text"], f"{each['difference']:+.2f}", f"{each['p_all']:.4f}", each["here"]] for each in found]
    if rows:
        yield from table(["expected", "difference on test", "p", "so here"], rows)


def draw(summary: dict[str, Any], folder: Path) -> list[str]:
    """A plot per way of choosing heads, over the share of them; returns the file names."""
    ways: dict[str, list[dict[str, Any]]] = {}
    for setting in summary["settings"]:
        if setting["share"] < 1:
            ways.setdefault(setting["name"].rpartition("-")[0], []).append(setting)
    full = next(setting for setting in summary["settings"] if setting["share"] == 1)
    return [_plot(way, settings, full, summary["data"], folder) for way, settings in ways.items()]


def _plot(way: str, settings: Sequence[dict[str, Any]], full: dict[str, Any], data: str, folder: Path) -> str:
    series = {
        name: with_deviations([setting["methods"][name]["scores"]["test"] for setting in settings])
        for name in settings[0]["methods"]
    }
    series["all heads, marginal"] = with_deviations([full["methods"][MARGINAL.name]["scores"]["test"]] * len(settings))
    name = f"partial-trees-{way}.png"
    shares = [100 * setting["share"] for setting in settings]
    curve(folder / name, shares, series, score="UAS, test", axis="heads that are known, %", title=f"{data}: {way}")
    return name
