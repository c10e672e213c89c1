"""The page of what the posterior saves in answers, drawn from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.figures import Series, bar
from reproductions.lab.page import opening, pictures, plots_below, table, write_page

NAME = "sources-server"
_PICTURE = f"{NAME}.png"
_PAPER = "li-2015"
_DRAWN = (_PAPER, "sure 0.95", "sure 0.99")
_SHORT = {"equally on every task": "equal", "where the model doubts": "doubts", "some more than others": "differ"}


def write(summary: dict[str, Any], folder: Path) -> None:
    """Write the page, its numbers and its picture into a folder."""
    write_page(folder, NAME, summary, lines(summary))
    groups = [f"{_SHORT[row['crowd']]}, {row['people']}" for row in summary["rows"]]
    series = {name: Series(_answers(summary, name), [_reach(row, name) for row in summary["rows"]]) for name in _DRAWN}
    bar(
        pictures(folder) / _PICTURE, groups, series, score="answers a task", title="Answers a task, by crowd and people"
    )


def lines(summary: dict[str, Any]) -> Iterator[str]:
    """The page."""
    yield from opening("Answers that the posterior saves", summary["command"])
    yield (
        f"Simulated annotators answer {summary['tasks']:,} of the tasks of"
        " [the study of the paper's rule](annotators.md), drawn at random: tokens that a tagger finds hard, with its"
        " two or three most probable tags. Either two annotators decide, and two more where they differ"
        " (`--rule li-2015`), or people are asked one by one until the posterior of a tag is sure enough"
        " (`--aggregate --sure P`, at most six), where another answer is expected to gain most. How reliable people are"
        f" is learned from their answers alone. {summary['seeds']} seeds; means.\n"
    )
    yield (
        f"People are wrong equally on every task (right {summary['accuracy']:.1%} of the time), or where the model"
        " doubts, or some more than others (as often on average). Whoever is wrong says another candidate, in"
        " proportion to the model's probabilities. Where two people differ and there are no others, the paper's rule"
        " leaves a task open.\n"
    )
    yield "- *kept*: percent of tasks that are agreed on, *wrong*: percent of these that are wrong by the gold tags."
    yield "- *wrong or missing*: percent of all tasks that are not kept, or wrong."
    yield "- *best, wrong*: of all tasks, kept or not, percent of which the most probable answer is wrong;"
    yield "  *expected*: the percent of which the posterior itself expects it.\n"
    for row in summary["rows"]:
        yield f"## Wrong {row['crowd']}: {row['people']} people\n"
        head = ["rule", "answers a task", "kept", "wrong", "wrong or missing", "best, wrong", "expected"]
        yield from table(head, _rules(row))
    yield "## Saved at equal quality\n"
    yield (
        "Percent of the paper's answers that the posterior saves, interpolated between the values of `--sure`: where as"
        " many of the kept tasks are wrong, and where as many of all tasks are wrong or missing. *None*: at no value as"
        " few as by the paper's rule. *More*: fewer at every value; so much is saved at the lowest.\n"
    )
    yield from table(["people are wrong", "people", "as few wrong", "as few wrong or missing"], _saved(summary))
    yield from plots_below([_PICTURE])


def _rules(row: dict[str, Any]) -> Iterator[list[str]]:
    for name in row["rules"]:
        answers, kept, right, best, believed = (
            _mean(row, name, each) for each in ("answers", "kept", "right", "best", "believed")
        )
        shares = [kept, 1 - right / kept, 1 - right, 1 - best, 1 - believed]
        yield [name, f"{answers:.2f}", *(f"{100 * share:.2f}" for share in shares)]


def _saved(summary: dict[str, Any]) -> Iterator[list[str]]:
    for row in summary["rows"]:
        wrong = {name: 1 - _mean(row, name, "right") / _mean(row, name, "kept") for name in row["rules"]}
        missing = {name: 1 - _mean(row, name, "right") for name in row["rules"]}
        yield [row["crowd"], str(row["people"]), *(_at_equal(row, errors) for errors in (wrong, missing))]


def _at_equal(row: dict[str, Any], errors: dict[str, float]) -> str:
    """What is saved where the errors are those of the paper's rule."""
    limit, usual = errors[_PAPER], _mean(row, _PAPER, "answers")
    points = [(errors[name], _mean(row, name, "answers")) for name in row["rules"] if name != _PAPER]
    if points[0][0] <= limit:
        return f"more than {100 * (1 - points[0][1] / usual):.0f}"
    for (high, fewer), (low, more) in pairwise(points):
        if low <= limit <= high:
            share = (high - limit) / (high - low)
            return f"{100 * (1 - (fewer + share * (more - fewer)) / usual):.0f}"
    return "none"


def _mean(row: dict[str, Any], rule: str, name: str) -> float:
    return float(np.mean([run[name] for run in row["rules"][rule]]))


def _reach(row: dict[str, Any], rule: str) -> float:
    answers = [float(run["answers"]) for run in row["rules"][rule]]
    return max(abs(each - _mean(row, rule, "answers")) for each in answers)


def _answers(summary: dict[str, Any], rule: str) -> list[float]:
    return [_mean(row, rule, "answers") for row in summary["rows"]]
