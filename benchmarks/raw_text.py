"""Raw text to segmented text: `python -m benchmarks.raw_text [--quick] [--megabytes N] [--vaporetto MODEL]`.

vaporetto's package cannot train: without a model of its own trainer, decompressed, it is left out, and so is every
program that is not installed.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.processes import measured, publish

LONG = 10
"""How many times as long the text is on which memory is measured again."""

measure = partial(measured, "raw_text_measure")


def run(megabytes: float, quick: bool, vaporetto: str | None, progress: Progress) -> list[dict[str, Any]]:
    """A row for every program, in one run on the same text."""
    others = {"rjieba": "", "vaporetto": vaporetto} if vaporetto else {"rjieba": ""}
    others = {name: model for name, model in others.items() if find_spec(name)}
    task = progress.add_task("raw text", total=8 + len(others))
    with tempfile.TemporaryDirectory() as folder:
        model, text, long = (str(Path(folder, name)) for name in ("model", "text", "long"))
        measure("model", model, *(("--lines", "1000") if quick else ()))
        measure("text", text, "--megabytes", str(megabytes))
        progress.advance(task, 2)
        rows = []

        def add(name: str, *words: str) -> None:
            rows.append({"program": name, **measure(*words)})
            progress.advance(task)

        for threads, name in (("1", "tagweave, 1 thread"), ("2", "tagweave, 2 threads")):
            words = ("--model", model, "--threads", threads)
            add(name, "tagweave", text, *words)
        for name, other in others.items():
            add(name, name, text, "--model", other or "")
        for name in ("tagger", "python-crfsuite"):
            add(name, name, text, "--model", model)
        measure("text", long, "--megabytes", str(LONG * megabytes))
        progress.advance(task)
        add(f"tagweave, 1 thread, {LONG} times the text", "tagweave", long, "--model", model)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table."""
    lines = ["| | characters a second, millions | F | peak memory, MB |", "|---|---|---|---|"]
    for row in rows:
        speed = row["characters"] / row["seconds"] / 1e6
        lines.append(f"| {row['program']} | {speed:.2f} | {100 * row['f']:.2f} | {row['peak_megabytes']:,.0f} |")
    return lines


def page(rows: list[dict[str, Any]], megabytes: float) -> list[str]:
    """The lines of the page."""
    return [
        "# Speed on raw text",
        "",
        f"Written by `python -m benchmarks.raw_text` ({platform.machine()}, Python {platform.python_version()}).",
        f"The text is {megabytes:g} MB, lines of the People's Daily repeated and shuffled; F is of words on its test",
        "data. tagweave reads a file and writes UTF-8, with a model of the default features; the others take strings",
        "and give strings. `tagger` is tagweave's general way, with the same model; it and python-crfsuite, with",
        f"features made in Python, take the first lines only. The last row is a text {LONG} times as long. Every",
        "measurement is a process of its own.",
        "",
        *table(rows),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a megabyte, nothing written")
    parser.add_argument("--megabytes", type=float, default=50, help="of text")
    parser.add_argument("--vaporetto", metavar="MODEL", help="a model of vaporetto, decompressed")
    options = parser.parse_args()
    megabytes = 0.5 if options.quick else options.megabytes
    with Progress(console=Console(stderr=True)) as progress:
        rows = run(megabytes, options.quick, options.vaporetto, progress)
    publish("speed-raw-text", page(rows, megabytes), rows, options.quick)


if __name__ == "__main__":
    main()
