"""Parsing beside UDPipe 1, and its cost by length of sentence: `python -m benchmarks.parsing [--quick]`."""

from __future__ import annotations

import argparse
import platform
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.characters import corpora_folder
from benchmarks.parsing_measure import UDPIPE, model_path
from benchmarks.processes import PICTURES, measured, publish
from benchmarks.treebanks import BLANK, CORPORA, copy

PASSES = {"adagrad": 6, "perceptron": 8}
"""Of each learner of tagweave, those of docs/parsing.md."""
UDPIPE_PASSES = 4
NAMES = {"adagrad": "tagweave, AdaGrad (default)", "perceptron": "tagweave, perceptron", UDPIPE: "UDPipe 1, parser"}
LENGTHS = (10, 20, 40, 60, 80, 100, 150, 200)
TOKENS = 12_000
"""In all sentences of a length."""
_FOR_LENGTHS = "zh/udc"
_PLOT = "speed-parsing-length.png"

measure = partial(measured, "parsing_measure")


def programs(udpipe_passes: int, quick: bool) -> dict[str, int]:
    """Of every program how many passes it makes over the training data; without any, UDPipe is left out."""
    passes = dict.fromkeys(PASSES, 1) if quick else dict(PASSES)
    return {**passes, UDPIPE: udpipe_passes} if udpipe_passes else passes


def run(sentences: int | None, passes: dict[str, int], lengths: tuple[int, ...], tokens: int) -> dict[str, Any]:
    """The measurements of all treebanks by program, and those of all lengths."""
    found: dict[str, Any] = {"corpora": {}, "lengths": []}
    with tempfile.TemporaryDirectory() as name, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("parsing", total=len(CORPORA) * len(passes) + len(lengths))
        for corpus in CORPORA:
            folder = Path(name, corpus)
            folder.mkdir(parents=True)
            compiled(corpus, folder)
            copy(corpora_folder() / corpus, folder, sentences)
            found["corpora"][corpus] = {}
            for program, count in passes.items():
                words = (program, str(folder), "--passes", str(count))
                found["corpora"][corpus][program] = {"passes": count, **measure(*words)}
                progress.advance(task)
        folder = Path(name, _FOR_LENGTHS)
        for length in lengths:
            words = (str(model_path(folder, "adagrad")), str(folder / BLANK), str(length), "--tokens", str(tokens))
            found["lengths"].append(measured("parsing_length_measure", *words))
            progress.advance(task)
    return found


def compiled(corpus: str, folder: Path) -> None:
    """Let every kernel be compiled, which is not counted."""
    copy(corpora_folder() / corpus, folder, 20)
    for learner in PASSES:
        measure(learner, str(folder), "--passes", "1")
    model = str(model_path(folder, "adagrad"))
    measured("parsing_length_measure", model, str(folder / BLANK), "10", "--tokens", "100")


COLUMNS = {
    "passes": ("passes", "{}"),
    "UAS": ("uas", "{:.2%}"),
    "LAS": ("las", "{:.2%}"),
    "training, s": ("train", "{:.1f}"),
    "parsing, tokens a second": ("tokens_per_second", "{:,.0f}"),
    "peak memory, MB": ("peak_megabytes", "{:,.0f}"),
    "model, MB": ("model_megabytes", "{:.1f}"),
}
"""The heads of the columns; of each the number, and its form."""
LENGTH_COLUMNS = {
    "parsing, µs a sentence": lambda row: per_sentence(row, "parsing"),
    "µs a token": lambda row: per_token(row, "parsing"),
    "best tree alone, µs a sentence": lambda row: per_sentence(row, "best_tree"),
    "training pass, µs a sentence": lambda row: per_sentence(row, "training"),
    "µs a token, training": lambda row: per_token(row, "training"),
    "inside-outside alone, µs a sentence": lambda row: per_sentence(row, "inside_outside"),
    "memory of parsing, MB": lambda row: row["parsing_megabytes"],
    "of training, MB": lambda row: row["training_megabytes"],
}


def per_sentence(row: dict[str, Any], what: str) -> float:
    """Microseconds."""
    return float(1e6 * row[what] / row["sentences"])


def per_token(row: dict[str, Any], what: str) -> float:
    """Microseconds."""
    return per_sentence(row, what) / float(row["length"])


def table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of the table of a treebank."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|" + "---|" * (1 + len(COLUMNS))]
    for program, row in rows.items():
        cells = [form.format(row[key]).rstrip("%") for key, form in COLUMNS.values()]
        lines.append(f"| {' | '.join([NAMES[program], *cells])} |")
    return lines


def length_table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table of lengths."""
    lines = [f"| tokens | {' | '.join(LENGTH_COLUMNS)} |", "|" + "---|" * (1 + len(LENGTH_COLUMNS))]
    for row in rows:
        numbers = [value(row) for value in LENGTH_COLUMNS.values()]
        cells = [f"{number:,.1f}" if number < 100 else f"{number:,.0f}" for number in numbers]
        lines.append(f"| {' | '.join([str(row['length']), *cells])} |")
    return lines


_OF_UDPIPE = [
    "UDPipe trains its parser alone, with its usual settings and XPOS besides, without embeddings from elsewhere;",
    "left to itself it makes ten passes.",
    "",
]


def page(found: dict[str, Any], sentences: int | None) -> list[str]:
    """The lines of the page."""
    corpora = f"the first {sentences:,} sentences of each file" if sentences else "whole treebanks"
    with_udpipe = any(UDPIPE in rows for rows in found["corpora"].values())
    command = "python -m benchmarks.parsing" + (" --udpipe-iterations 0" * (not with_udpipe))
    lines = [
        "# Speed of parsing",
        "",
        f"Written by `{command}` ({platform.machine()}, Python {platform.python_version()}).",
        f"Data are {corpora}, with gold tags (UPOS, XPOS, FEATS), which every program",
        "looks at. Trees are taken from the test data before they are parsed; punctuation and subtypes of relations",
        "count. The weights are those of the pass that is best on the development data. Times are of the processor,",
        "one thread: of training from sentences in memory to a model of heads and relations; of parsing from sentences",
        "in memory to sentences, the median of five runs. Memory is the most that a process of training and parsing",
        "has. What the compiler does once is not counted.",
        "",
        *(_OF_UDPIPE if with_udpipe else []),
    ]
    for corpus, rows in found["corpora"].items():
        lines += [f"## {CORPORA[corpus]}", "", *table(rows), ""]
    tokens = found["lengths"][0]["length"] * found["lengths"][0]["sentences"]
    return [
        *lines,
        "## Length of sentences",
        "",
        f"The running words of the test data of {CORPORA[_FOR_LENGTHS]}, cut into sentences of one length,",
        f"{tokens:,} tokens of each; the model is AdaGrad's above. Parsing is from sentences to sentences, a training",
        "pass one of AdaGrad over the trees that the model finds. The best tree (Eisner's algorithm) and",
        "inside-outside are part of these: their time grows with the cube of the length, that of the scores of arcs",
        "with its square.",
        "",
        *length_table(found["lengths"]),
        "",
    ]


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Microseconds a token against the length of the sentence."""
    from reproductions.lab.figures import Series, curve

    names = {
        "training pass": "training",
        "inside-outside alone": "inside_outside",
        "parsing": "parsing",
        "best tree alone": "best_tree",
    }
    series = {name: Series([per_token(row, what) for row in rows]) for name, what in names.items()}
    curve(path, [row["length"] for row in rows], series, score="microseconds a token", axis="tokens of a sentence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200 sentences, a pass, two lengths; nothing written")
    parser.add_argument(
        "--udpipe-iterations",
        type=int,
        default=UDPIPE_PASSES,
        help=f"passes of UDPipe's training, minutes each (default {UDPIPE_PASSES}; 0 leaves it out)",
    )
    options = parser.parse_args()
    sentences, lengths, tokens = (200, LENGTHS[:2], 1000) if options.quick else (None, LENGTHS, TOKENS)
    udpipe_passes = min(options.udpipe_iterations, 1) if options.quick else options.udpipe_iterations
    found = run(sentences, programs(udpipe_passes, options.quick), lengths, tokens)
    lines = page(found, sentences)
    if not options.quick:
        plot(found["lengths"], PICTURES / _PLOT)
        lines += [f"![Microseconds a token, by length](pictures/{_PLOT})", ""]
    publish("speed-parsing", lines, found, options.quick)


if __name__ == "__main__":
    main()
