"""Training on partial annotation beside python-crfsuite: `python -m benchmarks.partial [--quick] [--lines N]`.

The annotated corpus is the People's Daily; the partial sentences are those of Zhuxian in which a word of the lexicon of
its names is found (docs/free-annotations.md). python-crfsuite needs a label at every character.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks import kytea
from benchmarks.processes import measured, publish

ITERATIONS = 20
"""Of L-BFGS, on both sides."""

ROWS = {
    "python-crfsuite, L-BFGS, completed": ("crfsuite",),
    "tagweave, L-BFGS, completed": ("tagweave", "--data", "completed"),
    "tagweave, L-BFGS, completed, 2 threads": ("tagweave", "--data", "completed", "--threads", "2"),
    "tagweave, L-BFGS, partial": ("tagweave",),
    "tagweave, L-BFGS, partial, 2 threads": ("tagweave", "--threads", "2"),
    "tagweave, AdaGrad, partial": ("tagweave", "--learner", "adagrad"),
    "tagweave, AdaGrad, partial, 2 threads": ("tagweave", "--learner", "adagrad", "--threads", "2"),
    "KyTea, partial": ("kytea",),
}
"""The rows after the first one, and the words of their measurements."""

measure = partial(measured, "partial_measure")


def run(lines: int | None, iterations: int, progress: Progress) -> list[dict[str, Any]]:
    """A row for every way to train, in one run on the same sentences."""
    task = progress.add_task("partial", total=2 + len(ROWS))
    with tempfile.TemporaryDirectory() as folder:
        for what in (("data", "--lines", "50"), ("tagweave", "--iterations", "2")):  # compiles; not counted
            measure(what[0], folder, *what[1:])
        progress.advance(task)
        rows = [{"program": "tagweave, AdaGrad, People's Daily alone", **measure("data", folder, *_lines(lines))}]
        progress.advance(task)
        for name, (what, *words) in ROWS.items():
            if what == "kytea" and not kytea.is_installed():
                rows.append({"program": f"{name}: not installed"})
            else:
                rows.append({"program": name, **measure(what, folder, *words, "--iterations", str(iterations))})
            progress.advance(task)
    return rows


COLUMNS = {
    "reading and features, s": ("features", "{:.1f}"),
    "iteration, s": ("iteration", "{:.3f}"),
    "iterations": ("iterations", "{}"),
    "training, s": ("train", "{:.1f}"),
    "all, s": ("whole", "{:.1f}"),
    "peak memory, MB": ("peak_megabytes", "{:,.0f}"),
    "weights, millions": ("weights_millions", "{:.1f}"),
    "F": ("f", "{:.2%}"),
    "recall of unknown words": ("oov", "{:.2%}"),
}
"""The heads of the columns; of each the number, and its form."""


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table; a number that a program does not tell is left out."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|" + "---|" * (1 + len(COLUMNS))]
    for row in rows:
        known = dict(row)
        if "train" in row:
            known |= {"whole": row["features"] + row["train"], "weights_millions": row["weights"] / 1e6}
        cells = [form.format(known[key]).rstrip("%") if key in known else "" for key, form in COLUMNS.values()]
        lines.append(f"| {' | '.join([row['program'], *cells])} |")
    return lines


def page(rows: list[dict[str, Any]], lines: int | None) -> list[str]:
    """The lines of the page."""
    data = rows[0]
    corpus = f"the first {lines:,} lines of the People's Daily" if lines else "the People's Daily"
    theirs, same = (next(row for row in rows if row["program"] == name) for name in list(ROWS)[:2])
    return [
        "# Speed of training on partial annotation",
        "",
        f"Written by `python -m benchmarks.partial` ({platform.machine()}, Python {platform.python_version()}).",
        f"Training data are {corpus}, and {data['sentences']:,} sentences of Zhuxian",
        f"in which a word of a lexicon of its names is found; {100 * data['known']:.0f}% of their characters have one",
        "label, the others are open. *Partial*: they stay open. *Completed*: they get the labels that the model of",
        "the first row finds best, given what is known; python-crfsuite needs that. F, and the recall of words that",
        "the People's Daily lacks, are on the test data of Zhuxian.",
        "",
        f"All have the features of liu-2014, Table 2. L-BFGS has c2 = {theirs['c2']:g} on both sides, and weights",
        "for observed pairs of feature and label alone; tagweave computes in float32, python-crfsuite in float64.",
        "AdaGrad is tagweave's default, with weights for all pairs, to its end. On the completed sentences both",
        "minimise the same function, but that tagweave lets no letter follow one that it cannot follow: at last it",
        f"is {theirs['loss']:,.0f} (python-crfsuite) and {same['loss']:,.0f} (tagweave). Both read",
        "files of text. Every row is a process of its own, with one thread unless it says two; what the compiler",
        "does once, and the completion, are not counted. KyTea decides on every boundary by itself and needs no",
        "completion; it has features of its own, and the words of its training data as a dictionary.",
        "",
        *table(rows),
        "",
    ]


def _lines(lines: int | None) -> tuple[str, ...]:
    return ("--lines", str(lines)) if lines else ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred lines, a few iterations, nothing written")
    parser.add_argument("--lines", type=int, help="the first lines of the People's Daily; all when left out")
    options = parser.parse_args()
    lines, iterations = (300, 4) if options.quick else (options.lines, ITERATIONS)
    with Progress(console=Console(stderr=True)) as progress:
        rows = run(lines, iterations, progress)
    publish("speed-partial", page(rows, lines), rows, options.quick)


if __name__ == "__main__":
    main()
