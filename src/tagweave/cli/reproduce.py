"""`tagweave reproduce`: the experiments of a paper on corpora that the user has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="Whose experiments: jiang-2015, li-2015, liu-2014, sun-wan-2012 or tsuboi-2008."
        ),
    ],
    corpora: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", envvar="TAGWEAVE_CORPORA", help="The folder of the corpora."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help="A part of them (repeatable); all."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Run each training with N seeds.")] = 3,
    threads: options.Threads = 1,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Of finished trainings: the same command goes on there.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Of pages, their numbers as JSON, and plots; named as the paper."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The bundled sample and a few iterations: to see that it works.")
    ] = False,
) -> None:
    """Run the experiments of a paper, and write pages that have its numbers beside the new ones.

    Each part writes a page, PAPER-PART.md. What stands below a line "## Discussion" is kept when a page is written
    again.
    """
    from tagweave.learning.progress import Lines
    from tagweave.reproduce.papers import PAPERS
    from tagweave.reproduce.papers import paper as experiments

    if paper not in PAPERS:
        raise OptionError(f"unknown paper {paper!r}, expected {' or '.join(PAPERS)}")
    known = experiments(paper)
    parts = list(dict.fromkeys(only or known.parts))
    if unknown := [part for part in parts if part not in known.parts]:
        raise OptionError(f"unknown part {unknown[0]!r}, expected one of {', '.join(known.parts)}")
    if not quick and corpora is None:
        raise OptionError("found no corpora, expected --corpora FOLDER, or --quick for the bundled sample")
    words = ["tagweave", "reproduce", paper, *(f"--only {part}" for part in parts), f"--seeds {seeds}"]
    command, out = " ".join([*words, *(["--quick"] if quick else [])]), out or Path(paper)
    where, finished = None if quick else corpora, cache or out / "cache"
    for page in known.reproduce(parts, where, seeds, finished, out, command, threads, _say, Lines(sys.stderr)):
        typer.echo(page.read_text(encoding="utf-8"))


def _say(line: str) -> None:
    typer.echo(line, err=True)
