"""Pages of results, written from answers that nobody trained for, and what tests read in them.

What cells answer is tested where they are; a page only needs answers of their shape. An answer here is the gold line of
a sentence or, by chance, the same line turned by one item: as many words, tags or heads, of as many characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from reproductions.lab.run import run
from reproductions.lab.study import Study, pages

SEEDS = 2

Cell = Callable[[Any, Any, int], dict[str, Any]]
"""From corpora, a method and a seed to a result."""


def made_up(gold: Mapping[str, Iterable[str]], method: Any, seed: int, **more: Any) -> dict[str, Any]:
    """A result with the lines of gold texts; the baseline is the worst."""
    random = Random(f"{method.name} {seed}")
    mistakes = 0.8 if method.name == "baseline" else random.uniform(0.2, 0.6)

    def answer(line: str) -> str:
        first, *others = line.split(" ")
        return " ".join([*others, first]) if random.random() < mistakes else line

    costs = {"labels": random.randint(2, 90), "weights": random.randint(10**5, 10**7), "seconds": random.uniform(1, 99)}
    lines = {part: [answer(line) for line in every] for part, every in gold.items()}
    return {**costs, "history": [0.5, 0.6], **lines, **more}


@dataclass
class Page:
    """The page of a part.

    Attributes:
        text: of the page.
        numbers: those that stand beside it.
        again: the text that numbers give which never were in a file.
        folder: of the page.
    """

    text: str
    numbers: dict[str, Any]
    again: str
    folder: Path

    @property
    def settings(self) -> list[dict[str, Any]]:
        """The numbers of each."""
        found: list[dict[str, Any]] = self.numbers["settings"]
        return found


class Pages(dict[str, Page]):
    """The pages of a paper by part, each written when it is first asked for."""

    def __init__(self, experiments: Study[Any, Any], cell: Cell, folder: Path) -> None:
        super().__init__()
        self.experiments, self.cell, self.folder = experiments, cell, folder

    def __missing__(self, part: str) -> Page:
        own = self.experiments
        found = own.summary(run(part, own.parts[part](None), SEEDS, self.cell), "python -m reproductions", 20)
        numbers, plots = json.loads(json.dumps(found)), list[str]()

        def draw(numbers: dict[str, Any], folder: Path) -> list[str]:
            plots.extend(own.draw(numbers, folder))
            return plots

        (path,) = pages(own.name, [numbers], self.folder, own.lines, draw, lambda _: None)
        assert path.name == f"{own.name}-{part}.md"
        read = json.loads((path.parent / "data" / f"{path.stem}.json").read_text("utf-8"))
        self[part] = Page(path.read_text("utf-8"), read, "\n".join(own.lines(found, plots)) + "\n", self.folder)
        return self[part]


def rows(text: str, title: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by their first cell."""
    below = text.partition(f"### {title}")[2].partition("\n###")[0].lstrip("\n").partition("\n\n")[2]
    below = below.partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells[2:]}
