"""Raw text to segmented text: `python -m benchmarks.raw_text [--quick] [--megabytes N] [--vaporetto MODEL]`.

tagweave, python-crfsuite and KyTea are trained on the same lines. vaporetto's package cannot train: it runs KyTea's
model, unless a model of its own trainer, decompressed, is given.
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

from benchmarks import kytea
from benchmarks.processes import measured, publish
from benchmarks.raw_text_training import PASSIVE_AGGRESSIVE

LONG = 10
"""How many times as long the text is on which memory is measured again."""

PACKAGES = ("rjieba", "vaporetto")
"""The packages that may be missing, beside KyTea."""

measure = partial(measured, "raw_text_measure")
trained = partial(measured, "raw_text_training")


def run(megabytes: float, lines: int | None, vaporetto: str | None, progress: Progress) -> list[dict[str, Any]]:
    """A row for every program, in one run on the same text."""
    task = progress.add_task("raw text", total=13)
    missing = {name for name in PACKAGES if not find_spec(name)} | (set() if kytea.is_installed() else {"kytea"})
    with tempfile.TemporaryDirectory() as folder:
        text, long, ours, theirs, pointwise = (
            str(Path(folder, name)) for name in ("text", "long", "tagweave", "crfsuite", "model.kytea")
        )
        rows: list[dict[str, Any]] = []
        some = ("--lines", str(lines)) if lines else ()

        def train(program: str, path: str) -> dict[str, Any]:
            found = {} if program in missing else trained(program, path, *some)
            progress.advance(task)
            return found

        def add(name: str, program: str, *words: str, training: dict[str, Any] | None = None) -> None:
            known = {} if program in missing else {**(training or {}), **measure(program, *words)}
            rows.append({"program": name, **known})
            progress.advance(task)

        measure("text", text, "--megabytes", str(megabytes))
        progress.advance(task)
        by_ours, by_theirs = train("tagweave", ours), train("python-crfsuite", theirs)
        by_kytea = train("kytea", pointwise)
        add("tagweave, 1 thread", "tagweave", text, "--model", ours, training=by_ours)
        add("tagweave, 2 threads", "tagweave", text, "--model", ours, "--threads", "2")
        add("tagger", "tagger", text, "--model", ours)
        add("python-crfsuite", "python-crfsuite", text, "--model", theirs, training=by_theirs)
        add("KyTea", "kytea", text, "--model", pointwise, training=by_kytea)
        if vaporetto:
            add("vaporetto", "vaporetto", text, "--model", vaporetto)
        elif "kytea" not in missing:
            add("vaporetto, KyTea's model", "vaporetto", text, "--model", pointwise)
        add("rjieba, its own dictionary", "rjieba", text)
        measure("text", long, "--megabytes", str(LONG * megabytes))
        progress.advance(task)
        add(f"tagweave, 1 thread, {LONG} times the text", "tagweave", long, "--model", ours)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table."""
    head = ["", "characters a second, millions", "F", "peak memory, MB", "training, s", "peak memory of training, MB"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row["program"], "not installed", "", "", "", ""]
        if "seconds" in row:
            speed = row["characters"] / row["seconds"] / 1e6
            cells[1:4] = [f"{speed:.2f}", f"{100 * row['f']:.2f}", f"{row['peak_megabytes']:,.0f}"]
        if "training_seconds" in row:
            cells[4:] = [f"{row['training_seconds']:.0f}", f"{row['training_megabytes']:,.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(rows: list[dict[str, Any]], megabytes: float, lines: int | None) -> list[str]:
    """The lines of the page."""
    corpus = f"the first {lines:,} lines" if lines else "all lines"
    return [
        "# Speed on raw text",
        "",
        f"Written by `python -m benchmarks.raw_text` ({platform.machine()}, Python {platform.python_version()}).",
        f"The text is {megabytes:g} MB, lines of the People's Daily repeated and shuffled; F is of words on its test",
        f"data. tagweave, python-crfsuite and KyTea are trained on {corpus} of its training data, one thread",
        "each, files to model: tagweave by its default recipe, to its end; python-crfsuite with the same features",
        f"and letters by passive-aggressive updates, {PASSIVE_AGGRESSIVE} iterations, its best learner in",
        "[another run](speed.md); KyTea with its own features and words for a dictionary. vaporetto's package does not",
        "train.",
        "",
        "tagweave reads a file and writes UTF-8; the others take strings and give strings. `tagger` is tagweave's",
        "general way, with the same model; it, python-crfsuite, with features made in Python, and KyTea take the first",
        f"lines only. The last row is a text {LONG} times as long. Every measurement is a process of its own.",
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
    megabytes, lines = (0.5, 1000) if options.quick else (options.megabytes, None)
    with Progress(console=Console(stderr=True)) as progress:
        rows = run(megabytes, lines, options.vaporetto, progress)
    publish("speed-raw-text", page(rows, megabytes, lines), rows, options.quick)


if __name__ == "__main__":
    main()
