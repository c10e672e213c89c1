"""The page of the experiment: the numbers as JSON, and Markdown and plots drawn from those alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.incomplete.run import LEARNER, Run
from reproductions.incomplete.scores import REFERENCES, Scores, choice_precision, compare, scorer
from reproductions.incomplete.settings import DISCARD, MARGINAL, Setting
from reproductions.lab.comparison import LEVEL
from reproductions.lab.figures import Series, bar, with_deviations
from reproductions.lab.page import pictures, plots_below, sizes, table, values, write_page


def write(run: Run, folder: Path, name: str, command: str, trials: int = 10_000) -> None:
    """Write `name`.md into a folder, with its numbers and plots."""
    summary = {"command": command, **summarise(run, trials)}
    plots = list(draw(summary, pictures(folder), name))
    write_page(folder, name, summary, lines(summary, plots))


def summarise(run: Run, trials: int) -> dict[str, Any]:
    """All numbers of the page."""
    data = run.data
    parts = {"train": data.train, "dev": data.dev, "test": data.test}
    return {
        "data": data.name,
        "sizes": {name: [len(part), part.tokens()] for name, part in parts.items()},
        "budget": {"iterations": data.schedule.iterations, "patience": data.schedule.patience},
        "trials": trials,
        "settings": [summarise_setting(run, setting, trials) for setting in run.settings],
    }


def summarise_setting(run: Run, setting: Setting, trials: int) -> dict[str, Any]:
    """The methods of one setting with their scores and tests."""
    data = run.data
    seeds = range(len(run.results[setting.name, setting.methods[0].name]))
    score = [scorer(data, setting, seed) for seed in seeds]
    scores: dict[str, list[Scores]] = {}
    methods: list[dict[str, Any]] = []
    for method in setting.methods:
        key = setting.name, method.name
        results = run.results[key]
        scores[method.name] = [score[seed](results[seed]["test"]) for seed in seeds if results[seed]["left"]]
        methods.append(
            {
                "name": method.name,
                "left": [result["left"] for result in results],
                "dev": [100 * result["dev"] for result in results if result["left"]],
                "iterations": [result["iterations"] for result in results if result["left"]],
                "learner_dev": [None if value is None else 100 * value for value in run.learner[key]],
                "learner": run.chosen[key],
            }
        )
    for row in methods:
        row["measures"] = _measures(row["name"], scores, trials)
    choices = [choice_precision(setting.step(data.train, seed), data.train) for seed in seeds if setting.ambiguous]
    return {"name": setting.name, "title": setting.title, "methods": methods, "choices": choices}


def _measures(name: str, scores: dict[str, list[Scores]], trials: int) -> dict[str, Any]:
    """Per measure the values of the seeds, and the tests of the references against this method."""
    found: dict[str, Any] = {}
    for measure in scores[name][0] if scores[name] else ():
        column = {method: [seed[measure] for seed in seeds] for method, seeds in scores.items()}
        ours = column[name]
        row: dict[str, Any] = {"values": [score.value for score in ours]}
        row["mean"], row["deviation"] = float(np.mean(row["values"])), float(np.std(row["values"]))
        row["tested"] = ours[0].counts is not None
        row["against"] = {
            reference: compare(column[reference], ours, trials)
            for reference in REFERENCES
            if row["tested"] and reference != name and len(column.get(reference, ())) == len(ours)
        }
        found[measure] = row
    return found


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    yield "# Incomplete annotation: tagging"
    yield f"\nWritten by\n\n    {summary['command']}\n"
    yield "Every number down to the discussion is of that run.\n"
    yield from _setup(summary)
    for setting in summary["settings"]:
        yield f"\n## {setting['title']}\n"
        yield from _left(setting)
        for measure in _names(setting, tested=True):
            yield from _table(setting, measure)
        yield from _more(setting)
        yield from _choices(setting)
        yield from _verdict(setting)
    yield from plots_below(plots)
    yield "\nBars are means over the seeds, error bars standard deviations; `discard` is left out.\n"
    yield from _learner(summary)


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    budget = summary["budget"]
    data = f"{summary['data']}: {sizes(summary['sizes'])}"
    yield f"- Data: {data}. What is taken away is taken from the training part only."
    yield (
        f"- Every training run: AdaGrad, at most {budget['iterations']} passes, the pass that is best on dev, stopped"
        f" after {budget['patience']} passes without a better one. A method of two models has this budget for each."
    )
    tried = len(summary["settings"][0]["methods"][0]["learner_dev"])
    if tried == 1:
        yield "- Learner settings: the defaults, for every method alike."
    else:
        yield f"- Learner settings: for every method alike the best on dev of the same {tried}, tried with seed 0."
    yield (
        "- A seed draws what is taken away, the choices of `random` and the order of training sentences. Scores are"
        " x 100, means over the seeds; in brackets each seed."
    )
    yield (
        f"- p: two-sided, paired randomisation over test sentences, {summary['trials']:,} trials. The p over all seeds"
        f" exchanges a sentence in all seeds at once. The difference is `{MARGINAL.name}` less the rival."
    )


def _left(setting: dict[str, Any]) -> Iterator[str]:
    for method in setting["methods"]:
        if method["name"] == DISCARD.name:
            left = ", ".join(f"{count:,}" if count else "nothing left" for count in method["left"])
            yield f"Sentences that `discard` leaves: {left}.\n"


def _names(setting: dict[str, Any], tested: bool) -> list[str]:
    """The measures of a setting that are tested, or those that are not."""
    first = setting["methods"][0]["measures"]
    return [name for name, found in first.items() if found["tested"] == tested]


def _more(setting: dict[str, Any]) -> Iterator[str]:
    """A table of the measures that are not tested."""
    names = _names(setting, tested=False)
    if not names:
        return
    rows = []
    for method in setting["methods"]:
        found = [method["measures"].get(name) for name in names]
        cells = [f"{row['mean']:.2f} ({values(row['values'])})" if row else "-" for row in found]
        rows.append([method["name"], *cells])
    yield from table(["method", *names], rows)


def _choices(setting: dict[str, Any]) -> Iterator[str]:
    if setting["choices"]:
        means = {name: np.mean([seed[name] for seed in setting["choices"]]) for name in setting["choices"][0]}
        told = ", ".join(f"`{name}` {value:.2f}" for name, value in means.items())
        yield f"Of the candidates that stand in the place of a label, this share of choices is right: {told}.\n"


def _table(setting: dict[str, Any], measure: str) -> Iterator[str]:
    references = [name for name in REFERENCES if any(name == method["name"] for method in setting["methods"])]
    others = [f"p against `{name}`" for name in references[1:]]
    head = ["method", "dev", measure, "seeds", "difference", "p of each seed", "p over all seeds", *others]
    yield from table(head, [_row(method, measure, references) for method in setting["methods"]])


def _row(method: dict[str, Any], measure: str, references: Sequence[str]) -> list[str]:
    found = method["measures"].get(measure)
    if found is None:
        return [method["name"], "nothing left", *["-"] * (4 + len(references))]
    against = found["against"]
    cells = [
        method["name"],
        f"{np.mean(method['dev']):.2f}",
        f"**{found['mean']:.2f}**",
        f"({values(found['values'])})",
    ]
    first = against.get(references[0])
    cells += [f"{first['difference']:+.2f}", values(first["p"], 4), _p(first["p_all"])] if first else ["-"] * 3
    return cells + [_p(against[name]["p_all"]) if name in against else "-" for name in references[1:]]


def _p(value: float) -> str:
    return f"{value:.4f}"


def _verdict(setting: dict[str, Any]) -> Iterator[str]:
    """Which rivals marginal likelihood beats, in words, for every measure that is tested and either start."""
    for measure in _names(setting, tested=True):
        for reference in REFERENCES:
            groups: dict[str, list[str]] = {}
            for method in setting["methods"]:
                test = method["measures"].get(measure, {}).get("against", {}).get(reference)
                if test:
                    groups.setdefault(_outcome(test), []).append(f"`{method['name']}`")
            if groups:
                told = "; ".join(f"{outcome} {', '.join(names)}" for outcome, names in groups.items())
                yield f"{measure}, over all seeds: `{reference}` {told}.\n"


def _outcome(test: dict[str, Any]) -> str:
    if test["p_all"] >= LEVEL:
        return f"does not differ (p >= {LEVEL}) from"
    return f"is better (p < {LEVEL}) than" if test["difference"] > 0 else f"is worse (p < {LEVEL}) than"


def _learner(summary: dict[str, Any]) -> Iterator[str]:
    count = len(summary["settings"][0]["methods"][0]["learner_dev"])
    if count == 1:
        return
    yield "\n## Learner settings\n\nDev scores of seed 0, and the settings taken.\n"
    tried = [", ".join(f"{k} {v}" for k, v in settings.items()) or "defaults" for settings in LEARNER[:count]]
    rows = []
    for setting in summary["settings"]:
        for method in setting["methods"]:
            scores = ["-" if value is None else f"{value:.2f}" for value in method["learner_dev"]]
            nothing = all(value is None for value in method["learner_dev"])
            taken = "-" if nothing else tried[LEARNER.index(method["learner"])]
            rows.append([setting["name"], method["name"], *scores, taken])
    yield from table(["setting", "method", *tried, "taken"], rows)[:-1]


def draw(summary: dict[str, Any], folder: Path, name: str) -> Iterator[str]:
    """A plot per measure and group of settings with the same methods; yields the file names."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for setting in summary["settings"]:
        groups.setdefault(tuple(method["name"] for method in setting["methods"]), []).append(setting)
    for settings in groups.values():
        for measure in _names(settings[0], tested=True):
            series = _series(settings, measure)
            if len(series) < 2:
                continue
            slug = f"{name}-{settings[0]['name']}-{measure.replace(' ', '-').lower()}.png"
            bar(folder / slug, [setting["name"] for setting in settings], series, score=measure, title=summary["data"])
            yield slug


def _series(settings: Sequence[dict[str, Any]], measure: str) -> dict[str, Series]:
    """The methods that have a score in every setting."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for setting in settings:
        for method in setting["methods"]:
            if measure in method["measures"] and method["name"] != DISCARD.name:
                rows.setdefault(method["name"], []).append(method["measures"][measure])
    return {name: with_deviations(found) for name, found in rows.items() if len(found) == len(settings)}
