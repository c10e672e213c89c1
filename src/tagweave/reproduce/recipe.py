"""From the numbers of the parts of a paper to pages with plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tagweave.reproduce.page import write_page
from tagweave.reproduce.run import Say

Summary = dict[str, Any]
"""The numbers of a part, as JSON holds them; `part` is its name."""
Lines = Callable[[Summary, Sequence[str]], Iterable[str]]
"""From numbers and the file names of plots to the lines of a page."""
Draw = Callable[[Summary, Path], list[str]]
"""Draws the plots of a part into a folder, and gives their file names."""


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
        say("no plots: Matplotlib is not installed (pip install 'tagweave[plots]')")
        return []
    return draw(found, out)
