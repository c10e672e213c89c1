"""Pages of results: numbers as JSON, Markdown made from those, and what people wrote below."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tagweave.corpus.files import written
from tagweave.evaluation.plots import MARKERS, PALETTE, figure, readable

DISCUSSION = "## Discussion"
"""From this line on a page is written by hand, and no command changes it."""


def write_page(folder: Path, name: str, numbers: dict[str, Any], lines: Iterable[str]) -> Path:
    """Write `name`.md and `data/name.json` into a folder, keep the discussion of an earlier page, and return the page.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with written(str(folder / "data" / f"{name}.json")) as stream:
        stream.write(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n")
    page = folder / f"{name}.md"
    kept = page.read_text(encoding="utf-8").partition(f"\n{DISCUSSION}")[2] if page.exists() else ""
    with written(str(page)) as stream:
        stream.writelines(f"{line}\n" for line in lines)
        stream.write(f"\n{DISCUSSION}{kept}" if kept else "")
    return page


def opening(title: str, command: str) -> Iterator[str]:
    """Yield the first lines of a page."""
    yield f"# {title}"
    yield f"\nWritten by\n\n    {command}\n"
    yield "Every number down to the discussion is of that run, or from the paper where it says so.\n"


def sizes(numbers: Mapping[str, Sequence[int]]) -> str:
    """Tell how many sentences and words each corpus has."""
    return "; ".join(f"{name} {a:,} sentences, {b:,} words" for name, (a, b) in numbers.items())


def significance(trials: int) -> str:
    """Tell how the p of a page are computed."""
    return (
        f"- p: two-sided, paired randomisation over test sentences, {trials:,} trials; over all seeds, a sentence is"
        " exchanged in all of them at once. In brackets p of each seed."
    )


def values(numbers: Iterable[float], digits: int = 2) -> str:
    """Show the values of all seeds."""
    return ", ".join(f"{value:.{digits}f}" for value in numbers)


def score(numbers: Mapping[str, Any]) -> str:
    """Show the mean, and in brackets each seed."""
    return f"**{numbers['mean']:.2f}** ({values(numbers['values'])})"


def difference(test: Mapping[str, Any] | None) -> list[str]:
    """Return two cells: a difference, and p over all seeds, in brackets of each."""
    return (
        ["-", "-"] if test is None else [f"{test['difference']:+.2f}", f"{test['p_all']:.4f} ({values(test['p'], 4)})"]
    )


def number_range(numbers: Sequence[int]) -> str:
    """Show one number where all are the same, else the least and the greatest."""
    return f"{min(numbers):,}" if len(set(numbers)) == 1 else f"{min(numbers):,} to {max(numbers):,}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and a blank one."""
    return [*(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)), ""]


def findings(judgements: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of `reproductions.lab.comparison.judged`."""
    yield "### What the paper finds, and whether it is so here\n"
    rows = []
    for each in judgements:
        paper = "-" if each["paper"] is None else f"{each['paper']:+.2f}"
        rows.append(
            [each["text"], paper, each["measure"], f"{each['difference']:+.2f}", f"{each['p_all']:.4f}", each["here"]]
        )
    yield from table(["the paper", "its difference", "measured on", "difference here", "p", "so here"], rows)


def cost(methods: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the table of what trainings cost: the size of models, and seconds of a processor, scoring included."""
    yield "### Cost\n"
    rows = [
        [name, number_range(own["labels"]), f"{np.mean(own['weights']) / 1e6:.1f}", f"{np.mean(own['seconds']):.0f}"]
        for name, own in methods.items()
    ]
    yield from table(["method", "labels", "weights, millions", "CPU s"], rows)


def curve(
    path: Path,
    positions: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    score: str,
    axis: str,
    title: str = "",
) -> None:
    """Draw a curve for each system over `positions` (amounts of data, lengths), and write them to `path` as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with figure(path, series, score, title) as axes:
        for number, (name, scores) in enumerate(series.items()):
            axes.plot(positions, scores, color=PALETTE[number], marker=MARKERS[number], label=readable(name))
        axes.set_xlabel(readable(axis))
        axes.grid(alpha=0.3)
