"""What answers are worth: accuracy by their number, and by which tokens are asked for.

`python -m reproductions annotation-value`. See README.md in the folder above.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from reproductions.annotation_value.rounds import CHOICES, METHODS, Data, Pool, rounds
from reproductions.lab.comparison import LEVEL, Measured, compare
from reproductions.lab.corpora import corpora_folder, cut
from reproductions.lab.figures import curve, with_deviations
from reproductions.lab.options import study_parser
from reproductions.lab.page import opening, pictures, significance, table, write_page
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.evaluation.score import share_of_counts

NAME = "annotation-value"
SIZES = (250, 500, 1000, 2000, 4000, 8000)
TARGET, SOURCE = "ctb", "pd"
_METHODS = {
    "two-stage": "has the labels of the source's tagger among its features",
    "coupled": "is trained on both corpora, with bundles of the labels that met in the answers or stand in the mapping"
    " `ctb-pd`",
}


def read_data(source: int, quick: bool) -> Data:
    """ZX beside the first sentences of People's Daily, or the bundled sample."""
    if quick:
        target, other = (load(f"{name}={sample.path(f'{name}.txt')}") for name in (TARGET, SOURCE))
        train, test = cut(target, 90, 120)
        return Data("the sample corpus", train, test, other, 2, 50)
    folder = corpora_folder("zh")
    train, test = (load(f"{TARGET}={folder / 'zx' / part}.txt") for part in ("train", "test"))
    other = load(f"{SOURCE}={folder / 'pd199801' / 'train.txt'}")
    return Data("zh/zx", train, test, other.with_sentences(other.sentences[:source]))


def run(data: Data, methods: Sequence[str], sizes: Sequence[int], seeds: int) -> Iterator[dict[str, Any]]:
    """All rounds of all methods and choices."""
    with Progress(disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("rounds", total=seeds * len(methods) * len(CHOICES) * len(sizes))
        for seed in range(seeds):
            pool = Pool.of(data, seed)
            for method in methods:
                for choice in CHOICES:
                    for row in rounds(pool, method, choice, sizes, seed):
                        progress.advance(bar)
                        yield row


def summarise(data: Data, rows: Iterable[dict[str, Any]], trials: int) -> dict[str, Any]:
    """The numbers of the page: accuracies x 100, and every choice against random."""
    found: dict[tuple[str, int], dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        found.setdefault((row["method"], row["answers"]), {}).setdefault(row["choice"], []).append(row)
    lengths = np.array([len(sentence) for sentence in data.test])
    cells = []
    for (method, answers), by_choice in found.items():
        measured = {choice: _measured(own, lengths) for choice, own in by_choice.items()}
        tests = {
            choice: compare(each, measured["random"], trials) for choice, each in measured.items() if choice != "random"
        }
        every = [row for own in by_choice.values() for row in own]
        costs = {name: float(np.mean([row[name] for row in every])) for name in ("labels", "seconds")}
        scores = {choice: each.to_json() for choice, each in measured.items()}
        cells.append({"method": method, "answers": answers, "scores": scores, "tests": tests, **costs})
    sizes = {
        name: [len(part), part.tokens()]
        for name, part in (("target", data.target), ("test", data.test), ("source", data.source))
    }
    return {"data": data.name, "sizes": sizes, "budget": data.budget, "trials": trials, "cells": cells}


def _measured(rows: Sequence[dict[str, Any]], lengths: np.ndarray) -> Measured:
    counts = np.array([np.stack([row["right"], lengths], 1) for row in sorted(rows, key=lambda row: row["seed"])])
    return Measured(counts, share_of_counts)


def lines(summary: dict[str, Any], command: str) -> Iterator[str]:
    """The page."""
    sizes = summary["sizes"]
    yield from opening("What answers are worth", command)
    yield (
        "An annotator who never errs is asked for the labels of single words of the target's training text. At first"
        " there is the source corpus alone, of another guideline: its tagger chooses the first words, and then the"
        " model that was trained on the answers so far chooses the next ones. `least certain` asks for the words whose"
        " most probable label has the least probability, `in proportion` draws words in proportion to what that"
        " probability leaves, `random` draws any. The rest of the sentences stays unknown. Under"
        " double annotation as in li-2015 an answer takes 2.2 judgements.\n"
    )
    methods = list(dict.fromkeys(cell["method"] for cell in summary["cells"]))
    yield "; ".join(f"`{method}` {_METHODS[method]}" for method in methods) + ".\n"
    yield f"- Target ({summary['data']}): {sizes['target'][0]:,} sentences, {sizes['target'][1]:,} words to ask for."
    yield f"- Test: {sizes['test'][0]:,} sentences, {sizes['test'][1]:,} words."
    yield f"- Source: {sizes['source'][0]:,} sentences, {sizes['source'][1]:,} words."
    yield f"- Every training: AdaGrad, {summary['budget']} iterations; no development data."
    yield significance(summary["trials"])
    yield f"\n![accuracy by answers](pictures/{NAME}.png)\n"
    for method in methods:
        yield f"## {method}\n"
        own = [cell for cell in summary["cells"] if cell["method"] == method]
        head = ["answers", *CHOICES, *(f"{choice}: difference to random, p" for choice in CHOICES[:-1])]
        yield from table([*head, "labels", "seconds"], map(_row, own))
        for choice in CHOICES[:-1]:
            yield from _verdict(own, choice)


def _row(cell: dict[str, Any]) -> list[str]:
    means = [f"{cell['scores'][choice]['mean']:.2f}" for choice in CHOICES]
    tests = [cell["tests"][choice] for choice in CHOICES[:-1]]
    differences = [f"{test['difference']:+.2f}, {test['p_all']:.4f}" for test in tests]
    return [f"{cell['answers']:,}", *means, *differences, f"{cell['labels']:.0f}", f"{cell['seconds']:.1f}"]


def _verdict(cells: Sequence[dict[str, Any]], choice: str) -> Iterator[str]:
    """Where a choice is better than random, and how few of its answers do as well as the most of those."""
    certain = [cell for cell in cells if cell["tests"][choice]["p_all"] < LEVEL]
    better, worse = (
        ", ".join(f"{cell['answers']:,}" for cell in certain if sign * cell["tests"][choice]["difference"] > 0)
        for sign in (1, -1)
    )
    yield f"`{choice}` is better than `random` (p < {LEVEL}) with these numbers of answers: {better or 'none'}."
    yield f"It is worse with: {worse or 'none'}."
    last = cells[-1]
    enough = [cell["answers"] for cell in cells if cell["scores"][choice]["mean"] >= last["scores"]["random"]["mean"]]
    few = f"{enough[0]:,}" if enough else "No number"
    yield f"{few} of its answers do as well as {last['answers']:,} random ones.\n"


def draw(summary: dict[str, Any], path: Path) -> None:
    """A curve of every method and choice."""
    positions = list(dict.fromkeys(cell["answers"] for cell in summary["cells"]))
    series = {}
    for method in dict.fromkeys(cell["method"] for cell in summary["cells"]):
        for choice in CHOICES:
            own = [cell["scores"][choice] for cell in summary["cells"] if cell["method"] == method]
            series[f"{method}, {choice}"] = with_deviations(own)
    curve(path, positions, series, score="accuracy on test x 100", axis="answers", title=summary["data"])


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("annotation-value", __doc__, "the bundled sample")
    parser.add_argument("--seeds", type=int, default=1, help="seeds 0 .. SEEDS - 1 (default 1)")
    parser.add_argument("--source", type=int, default=1500, help="sentences of the source corpus (default 1500)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="default: all")
    options = parser.parse_args(words)
    data = read_data(options.source, options.quick)
    sizes = [size for size in SIZES if size <= data.target.tokens()]
    rows = list(run(data, options.methods, sizes, options.seeds))
    command = shlex.join(["python", "-m", "reproductions", "annotation-value", *words])
    summary = {"command": command, **summarise(data, rows, 200 if options.quick else 10_000)}
    draw(summary, pictures(options.out) / f"{NAME}.png")
    write_page(options.out, NAME, summary, lines(summary, command))
