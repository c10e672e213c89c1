"""Perceptron training beside python-crfsuite's `ap`: `python -m benchmarks.perceptron [--quick] [--lines N]`."""

from __future__ import annotations

import argparse
import platform
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.perceptron_workloads import CORPORA
from benchmarks.processes import measured, publish

PASSES = 10

CRFSUITE = "python-crfsuite, ap"
PROGRAMS = {
    CRFSUITE: ("crfsuite",),
    "tagweave, observed pairs": ("tagweave", "--features", "observed"),
    "tagweave, all pairs": ("tagweave", "--features", "all"),
}
"""The rows of a table, and the words of their measurements."""
ONLY_OBSERVED = ("segtag",)
"""Workloads of so many labels that all pairs of feature and label are not what tagweave would take."""

measure = partial(measured, "perceptron_measure")


def run(lines: int | None, passes: int, progress: Progress) -> dict[str, dict[str, Any]]:
    """The measurements by workload and program, in turn on the same data."""
    pairs = [
        (name, program)
        for name in CORPORA
        for program, words in PROGRAMS.items()
        if not (name in ONLY_OBSERVED and "all" in words)
    ]
    task = progress.add_task("perceptron", total=len(pairs))
    found: dict[str, dict[str, Any]] = {}
    for name, program in pairs:
        what, *words = PROGRAMS[program]
        if what == "tagweave":  # compiles; not counted
            measure(what, name, *words, "--lines", "30", "--passes", "1")
        words += ["--lines", str(lines)] if lines else []
        found.setdefault(name, {})[program] = measure(what, name, *words, "--passes", str(passes))
        progress.advance(task)
    return found


def table(rows: dict[str, Any]) -> list[str]:
    """The lines of the table of a workload."""
    head = ["", "a pass, s", "tokens a second", "ratio", "features, s", "in all, s", "ratio", "score"]
    head.append("weights, millions")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    theirs = rows[CRFSUITE]
    for program, row in rows.items():
        cells = [f"{row['pass']:.3f}", f"{row['tokens'] / row['pass']:,.0f}", f"{theirs['pass'] / row['pass']:.1f}x"]
        cells += [f"{row['encoding']:.1f}", f"{row['whole']:.1f}", f"{theirs['whole'] / row['whole']:.1f}x"]
        cells += [f"{100 * row['score']:.2f}", f"{row['weights'] / 1e6:.1f}"]
        lines.append(f"| {' | '.join([program, *cells])} |")
    return lines


def page(found: dict[str, dict[str, Any]], lines: int | None) -> list[str]:
    """The lines of the page."""
    corpus = f"the first {lines:,} lines of each training corpus" if lines else "whole training corpora"
    text = [
        "# Speed of the perceptron",
        "",
        f"Written by `python -m benchmarks.perceptron` ({platform.machine()}, Python {platform.python_version()}).",
        f"Training data are {corpus}. Characters have the features of jiang-2015, Table 1;",
        "words their own form, those of both neighbours, and prefixes and suffixes of up to three characters. Both",
        "programs make as many passes over the same sentences and return averaged weights. python-crfsuite has",
        "weights for observed pairs of feature and label, in float64; tagweave for these or for all pairs, its",
        "default up to 64 labels, in float32. Times are of the processor, one thread: a pass is the median after",
        "the first; in all is from sentences in memory to a model. What the compiler does once is not counted.",
        "Scores, on development data, are F of words (with their tags, for Zhuxian), or accuracy.",
        "",
    ]
    for name, rows in found.items():
        theirs = rows[CRFSUITE]
        text += [
            f"## {CORPORA[name][2]}",
            "",
            f"{theirs['tokens']:,} tokens, {theirs['labels']} labels, {theirs['passes']} passes.",
            "",
            *table(rows),
            "",
        ]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred lines, three passes, nothing written")
    parser.add_argument("--lines", type=int, help="of the training data (default: all)")
    parser.add_argument("--passes", type=int, default=PASSES, help=f"over the training data (default {PASSES})")
    options = parser.parse_args()
    lines, passes = (300, 3) if options.quick else (options.lines, options.passes)
    with Progress(console=Console(stderr=True)) as progress:
        found = run(lines, passes, progress)
    publish("speed-perceptron", page(found, lines), found, options.quick)


if __name__ == "__main__":
    main()
