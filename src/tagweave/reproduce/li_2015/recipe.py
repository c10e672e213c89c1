"""The reproduction of li-2015 from corpora to pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tagweave.learning.loop import Watcher
from tagweave.reproduce.cache import Cache, Result
from tagweave.reproduce.comparison import TRIALS
from tagweave.reproduce.li_2015.cells import Cell
from tagweave.reproduce.li_2015.figures import draw
from tagweave.reproduce.li_2015.methods import Method
from tagweave.reproduce.li_2015.page import lines
from tagweave.reproduce.li_2015.pair import Pair
from tagweave.reproduce.li_2015.settings import settings
from tagweave.reproduce.li_2015.summary import summary
from tagweave.reproduce.recipe import pages
from tagweave.reproduce.run import Say, run, silent


def reproduce(
    parts: Sequence[str],
    corpora: Path | None,
    seeds: int,
    cache: Path,
    out: Path,
    command: str,
    threads: int = 1,
    say: Say = silent,
    watcher: Watcher | None = None,
    trials: int = TRIALS,
) -> Iterator[Path]:
    """As `tagweave.reproduce.papers.Reproduce`; `trials` are those of the significance tests."""
    every = {part: settings(part, corpora) for part in parts}  # a corpus that is missing is told at once

    def cell(pair: Pair, method: Method, seed: int) -> Result:
        return Cell(pair, method, seed, Cache(cache), threads, watcher).result()

    found = (summary(run(part, chosen, seeds, cell, say), command, trials) for part, chosen in every.items())
    yield from pages("li-2015", found, out, lines, draw, say)
