"""The page of the experiment on simulated annotators, drawn from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.page import opening, table, write_page

AT_TWO, AT_FOUR, DROPPED = 91.0, 5.6, 3.4
"""li-2015, section 4: percent of tasks."""

_NUMBERS = {"accuracy": "right {:.1%} of the time", "odds": "odds {:.1f} times the model's", "share": "{:.1%} of tasks"}


def write(summary: dict[str, Any], folder: Path) -> None:
    """Write `annotators.json` and `annotators.md` into a folder."""
    write_page(folder, "annotators", summary, lines(summary))


def lines(summary: dict[str, Any]) -> Iterator[str]:
    """The page."""
    yield from opening("Simulated annotators", summary["command"])
    yield (
        f"{summary['people']} simulated annotators answer {summary['tasks']:,} tasks through the store: the tokens that"
        " a tagger finds hardest, a fifth of the text, with its two or three most probable tags (li-2015, section 4)."
        f" The tagger's own best tag is right for {summary['tagger']:.1%} of them. A task goes to two annotators; where"
        " they differ, to two more; it is agreed where the first two agree or three of four do, else dropped. Whoever"
        " is wrong says one of the other candidates, in proportion to the model's probabilities.\n"
    )
    yield "Two annotators agree 91% of the time, as in the paper. They are wrong in one of three ways:\n"
    for kind in summary["kinds"]:
        numbers = ", ".join(_NUMBERS[name].format(value) for name, value in kind["number"].items())
        yield f"- **{kind['name']}**: {numbers}."
    yield "\n## Shares of tasks\n"
    yield "Percent of tasks. *Expected* is by counting over all answers that could be given, without chance.\n"
    yield from table(["annotators are wrong", "agreed at two", "agreed at four", "dropped"], _shares(summary))
    yield "## What is kept\n"
    yield "Percent right by the gold tags, and agreement of the first two annotators of a task.\n"
    head = ["annotators are wrong", "one alone", "all kept", "at two", "at four", "raw agreement", "alpha", "kappas"]
    yield from table([*head, "answers a task"], _quality(summary))


def _shares(summary: dict[str, Any]) -> Iterator[list[str]]:
    yield ["the paper's people", *(f"{share:.1f}" for share in (AT_TWO, AT_FOUR, DROPPED))]
    for kind in summary["kinds"]:
        found = [f"{100 * _mean(kind, name):.1f}" for name in ("two", "four", "dropped")]
        counted = [f"{100 * kind['expected'][name]:.1f}" for name in ("two", "four", "dropped")]
        yield [kind["name"], *(f"{one} (expected {other})" for one, other in zip(found, counted, strict=True))]


def _quality(summary: dict[str, Any]) -> Iterator[list[str]]:
    for kind in summary["kinds"]:
        right = [f"{100 * _mean(kind, name):.1f}" for name in ("right_alone", "right", "right_two", "right_four")]
        agreement = [f"{100 * _mean(kind, 'agreement'):.1f}", f"{_mean(kind, 'alpha'):.3f}"]
        kappas = [run["kappas"] for run in kind["runs"] if run["kappas"]]
        spread = f"{min(low for low, _ in kappas):.3f} to {max(high for _, high in kappas):.3f}" if kappas else "-"
        yield [kind["name"], *right, *agreement, spread, f"{_mean(kind, 'answers') / summary['tasks']:.2f}"]


def _mean(kind: dict[str, Any], name: str) -> float:
    return float(np.mean([run[name] for run in kind["runs"]]))
