"""Pages of results: numbers as JSON, Markdown drawn from those, and what people wrote below."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tagweave.corpus.files import written

DISCUSSION = "## Discussion"
"""From this line on a page is written by hand, and no command changes it."""


def write_page(folder: Path, name: str, summary: dict[str, Any], lines: Iterable[str]) -> None:
    """Write `name`.md and `data/name.json` into a folder; keep the discussion of an earlier page.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with written(str(folder / "data" / f"{name}.json")) as stream:
        stream.write(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    page = folder / f"{name}.md"
    kept = page.read_text(encoding="utf-8").partition(f"\n{DISCUSSION}")[2] if page.exists() else ""
    with written(str(page)) as stream:
        stream.writelines(f"{line}\n" for line in lines)
        stream.write(f"\n{DISCUSSION}{kept}" if kept else "")


def pictures(folder: Path) -> Path:
    """Make the folder of the plots beside the pages, and return it."""
    found = folder / "pictures"
    found.mkdir(parents=True, exist_ok=True)
    return found


def opening(title: str, command: str) -> Iterator[str]:
    """The first lines of a page."""
    yield f"# {title}"
    yield f"\nWritten by\n\n    {command}\n"
    yield "Every number down to the discussion is of that run, or from the paper where it says so.\n"


def plots_below(plots: Iterable[str], note: str = "") -> Iterator[str]:
    """The plots of a page, which are its last section."""
    if plots := list(plots):
        yield "\n## Plots\n"
        yield from [f"{note}\n"] if note else []
        yield from (f"![{plot}](pictures/{plot})" for plot in plots)


FARTHEST = "Error bars reach as far as the seed that is farthest from the mean."


def sizes(found: Mapping[str, Sequence[int]]) -> str:
    """How many sentences and words each corpus has."""
    return "; ".join(f"{name} {a:,} sentences, {b:,} words" for name, (a, b) in found.items())


def training(recipe: Mapping[str, Any]) -> str:
    """The learner of a recipe with its settings, and its iterations."""
    told = ", ".join(f"{name} {value}" for name, value in recipe.items() if name not in ("learner", "iterations"))
    learner = f"{recipe['learner']}{f' ({told})' if told else ''}"
    return f"- Every training: {learner}, {recipe['iterations']} iterations; the last one is kept."


def early_stopping(budget: Sequence[int], dev: str = "development data", learner: str = "") -> str:
    """How long models are trained."""
    return (
        f"- Every training: {learner}at most {budget[0]} iterations, the one that is best on {dev}, stopped after"
        f" {budget[1]} without a better one."
    )


def values(found: Iterable[float], digits: int = 2) -> str:
    """Those of all seeds."""
    return ", ".join(f"{value:.{digits}f}" for value in found)


def score(found: Mapping[str, Any]) -> str:
    """The mean, and in brackets each seed."""
    return f"**{found['mean']:.2f}** ({values(found['values'])})"


def test(found: Mapping[str, Any] | None) -> list[str]:
    """Two cells: a difference, and p over all seeds, in brackets of each."""
    if not found:
        return ["-", "-"]
    return [f"{found['difference']:+.2f}", f"{found['p_all']:.4f} ({values(found['p'], 4)})"]


def of_paper(
    title: str,
    summary: Mapping[str, Any],
    notes: Iterable[str],
    setup: Iterable[str],
    of_setting: Callable[[dict[str, Any]], Iterable[str]],
) -> Iterator[str]:
    """The page of a part: notes, how models were trained, and for every setting its tables and what was found."""
    yield from opening(title, summary["command"])
    yield from (f"{note}\n" for note in notes)
    yield from setup
    for setting in summary["settings"]:
        yield f"\n## {setting['title']}\n"
        yield from of_setting(setting)


def significance(trials: int) -> str:
    """How the p of a page are computed."""
    return (
        f"- p: two-sided, paired randomisation over test sentences, {trials:,} trials; over all seeds, a sentence is"
        " exchanged in all of them at once. In brackets p of each seed."
    )


def findings(found: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The table of `reproductions.lab.comparison.judged`."""
    yield "### What the paper finds, and whether it is so here\n"
    rows = []
    for each in found:
        paper = "-" if each["paper"] is None else f"{each['paper']:+.2f}"
        numbers = [f"{each['difference']:+.2f}", f"{each['p_all']:.4f}"]
        rows.append([each["text"], paper, each["measure"], *numbers, each["here"]])
    yield from table(["the paper", "its difference", "measured on", "difference here", "p", "so here"], rows)


def cost(methods: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """What the trainings of each method cost: the size of its models, iterations of every seed, and time."""
    yield "### Cost\n"
    rows = []
    for name, found in methods.items():
        iterations = [len(history) for history in found["history"]]
        minutes = np.mean(found["seconds"]) / 60
        weights = f"{np.mean(found['weights']) / 1e6:.1f}"
        rows.append([name, number_range(found["labels"]), weights, number_range(iterations), _minutes(minutes)])
    yield from table(["method", "labels", "weights, millions", "iterations", "minutes, all in all"], rows)


def number_range(numbers: Sequence[int]) -> str:
    """One number where all are the same, else the least and the greatest."""
    return f"{min(numbers):,}" if len(set(numbers)) == 1 else f"{min(numbers):,} to {max(numbers):,}"


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """The lines of a table."""
    return [_row(head), "|" + "---|" * len(head), *map(_row, rows), ""]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _minutes(minutes: float) -> str:
    return f"{minutes:.1f}" if minutes >= 0.1 else f"{minutes:.3f}"
