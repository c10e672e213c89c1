"""The experiments of a paper, from corpora to pages with plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic

from reproductions.lab.cache import Cache, Result
from reproductions.lab.cell_task import cell_tasks, fill
from reproductions.lab.comparison import TRIALS
from reproductions.lab.page import pictures, write_page
from reproductions.lab.run import Data, Method, Run, Say, Setting, run, silent
from tagweave.learning.run import SILENCE, Callback
from tagweave.signals import leave_with_parent

Summary = dict[str, Any]
"""The numbers of a part, as JSON holds them; `part` is its name."""
Lines = Callable[[Summary, Sequence[str]], Iterable[str]]
"""From numbers and the file names of plots to the lines of a page."""
Draw = Callable[[Summary, Path], list[str]]
"""Draws the plots of a part into a folder, and gives their file names."""


@dataclass(frozen=True)
class Study(Generic[Data, Method]):
    """The experiments of a paper or of another study.

    Attributes:
        name: its short name, with which all files begin.
        parts: by its name what gives the settings of a part, on the corpora of a folder or, without one, on the bundled
            sample.
        cells: with a cache, a number of threads and a callback, what gives the result of a method on the corpora of a
            seed, from the cache or from a training.
        summary: the numbers of a part, told the command and how many trials a test of significance has.
        lines: its page.
        draw: its plots.
    """

    name: str
    parts: Mapping[str, Callable[[Path | None], list[Setting[Data, Method]]]]
    cells: Callable[[Cache, int, Callback], Callable[[Data, Method, int], Result]]
    summary: Callable[[Run[Data, Method], str, int], Summary]
    lines: Lines
    draw: Draw

    def __call__(
        self,
        parts: Sequence[str],
        corpora: Path | None,
        seeds: int,
        cache: Path,
        out: Path,
        command: str,
        threads: int = 1,
        say: Say = silent,
        callback: Callback = SILENCE,
        trials: int = TRIALS,
        processes: int = 1,
    ) -> Iterator[Path]:
        """Run parts of the experiments, and give the page of each when it is written.

        Beside the page `PAPER-PART.md`, its numbers are in `data/PAPER-PART.json`, and plots in `pictures/` where
        Matplotlib is installed.

        Args:
            parts: some of the paper's parts.
            corpora: the folder of all corpora; `None` takes the bundled sample, whose numbers mean nothing.
            seeds: how many.
            cache: the folder of finished trainings.
            out: the folder of pages.
            command: how to have the page again.
            threads: of every training.
            say: is told of every cell, before it runs.
            callback: is told of every iteration.
            trials: of the significance tests.
            processes: with several, they train all cells into the cache first.

        Raises:
            CorpusError: a corpus that is not there or not what it should be, or a damaged file in the cache.
            OSError: a file cannot be read or written.
            KeyboardInterrupt: the user stopped a training.
        """
        every = {part: self.parts[part](corpora) for part in parts}  # a corpus that is missing is told at once
        if processes > 1:
            tasks = cell_tasks(self, parts, corpora, seeds, cache, threads)
            with ProcessPoolExecutor(processes, get_context("spawn"), leave_with_parent) as pool:
                for number, (task, _) in enumerate(zip(tasks, pool.map(fill, tasks), strict=True), 1):
                    say(f"{number}/{len(tasks)} done  {task.setting}, {task.method}, seed {task.seed}")
        cell = self.cells(Cache(cache), threads, callback)
        runs = (run(part, settings, seeds, cell, say) for part, settings in every.items())
        found = (self.summary(each, command, trials) for each in runs)
        yield from pages(self.name, found, out, self.lines, self.draw, say)


def pages(paper: str, summaries: Iterable[Summary], out: Path, lines: Lines, draw: Draw, say: Say) -> Iterator[Path]:
    """Write the page of every part as soon as its numbers are there, and give its path.

    Args:
        paper: its short name, with which all files begin.
        summaries: the numbers, part by part.
        out: the folder of pages.
        lines: makes a page.
        draw: draws its plots, where Matplotlib is installed.
        say: is told where it is not.

    Raises:
        OSError: a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    for found in summaries:
        name = f"{paper}-{found['part']}"
        write_page(out, name, found, lines(found, _drawn(found, out, draw, say)))
        yield out / f"{name}.md"


def _drawn(found: Summary, out: Path, draw: Draw, say: Say) -> list[str]:
    if find_spec("matplotlib") is None:
        say("no plots: Matplotlib is not installed (pip install '.[plots]')")
        return []
    return draw(found, pictures(out))
