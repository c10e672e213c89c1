"""Methods for two guidelines: what a race says of them, what all of the text says, and what the race costs.

`python -m benchmarks.race`: each pair of corpora is trained by every method that races, and by default.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from benchmarks.scores import score
from tagweave.learning.run import Silence

METHODS = ("single", "stacked", "coupled", "transform")
SOURCE = 4_000
"""Sentences of the source at most, so that all takes a quarter of an hour."""
SCHEDULE = {"iterations": 30, "patience": 3}


class Pair(NamedTuple):
    """A target corpus, how many of its sentences are used, and a source of another guideline."""

    target: str
    sentences: int
    source: str
    dev: str
    test: str
    task: str


PAIRS = {
    "300 sentences of Zhuxian, People's Daily: tags": Pair(
        "zh/zx/train.txt", 300, "zh/pd199801/train.txt", "zh/zx/dev.txt", "zh/zx/test.txt", "tag"
    ),
    "800 sentences of WSJ, EWT (XPOS): tags": Pair(
        "en/wsj/train.txt", 800, "en/ewt/train.conllu#xpos", "en/wsj/dev.txt", "en/wsj/test.txt", "tag"
    ),
    "500 sentences of Zhuxian, People's Daily: words": Pair(
        "zh/zx/train.txt", 500, "zh/pd199801/train.txt", "zh/zx/dev.txt", "zh/zx/test.txt", "segment"
    ),
    "CrossNER science, CoNLL-2003: entities": Pair(
        "en/crossner/science/train.txt",
        200,
        "en/conll2003/train.txt",
        "en/crossner/science/dev.txt",
        "en/crossner/science/test.txt",
        "spans",
    ),
}


def trained(pair: Pair, method: str) -> dict[str, Any]:
    """Train by a method, or by default, which names none.

    The result has scores in percent, `seconds` of a processor, and by default the `method` that was chosen, and the
    scores of the race, by method.
    """
    folder = corpora_folder()
    target, source, dev, test = (tw.load(str(folder / each)) for each in (pair[0], *pair[2:5]))
    target = target.with_sentences(target.sentences[: pair.sentences])
    source = source.with_sentences(source.sentences[:SOURCE])
    begin = process_time()
    sources = [] if method == "single" else [source]
    options: dict[str, Any] = {"method": None if method == "default" else method, "callback": Silence(), **SCHEDULE}
    model = tw.train(target, sources, dev=dev, task=pair.task, **options)
    seconds, about = process_time() - begin, model.about
    race = {name: 100 * score for name, score in about.get("race", {}).items()}
    scores = {"dev": 100 * about["dev_score"], "test": score(model, test)}
    return {**scores, "seconds": seconds, "method": about["plan"]["method"], "race": race}


def measured(name: str, _seeds: int) -> dict[str, dict[str, Any]]:
    """Train a pair by all methods."""
    found = {}
    for method in (*METHODS, "default"):
        found[method] = trained(PAIRS[name], method)
        print(name, method, found[method], file=sys.stderr, flush=True)
    return found


def page(found: dict[str, dict[str, dict[str, Any]]], command: str, _seeds: int) -> list[str]:
    """Return the lines of the page."""
    rows, times = [], []
    for name, results in found.items():
        default = results["default"]
        for what, scores in (
            ("race, dev", [default["race"].get(each) for each in METHODS] + [None]),
            ("all, dev", [results[each]["dev"] for each in METHODS] + [default["dev"]]),
            ("all, test", [results[each]["test"] for each in METHODS] + [default["test"]]),
        ):
            cells = ("" if each is None else f"{each:.2f}" for each in scores)
            rows.append(f"| {name} | {what} | {' | '.join(cells)} |")
        chosen, seconds = default["method"], default["seconds"]
        own = results[chosen]["seconds"]
        times.append(f"| {name} | {chosen} | {own:.0f} | {seconds:.0f} | {seconds / own:.2f} |")
    return [
        "# The race of methods",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "F of entities and words, accuracy of tags, in percent. Where corpora of two guidelines meet and no method is",
        "named, methods race on a part of the corpora: at most 15,000 tokens of the target and 40,000 of the sources,",
        "for three iterations. *By default* is the model that `train` returns: that of the winner, or a plain one",
        "where that is better on dev. *single* is a plain model of the target alone. A named method is not overruled.",
        f"Sources are the first {SOURCE:,} sentences of their corpora; at most {SCHEDULE['iterations']} iterations.",
        "",
        f"| corpora | | {' | '.join(METHODS)} | by default |",
        "|---|---|" + "---|" * (len(METHODS) + 1),
        *rows,
        "",
        "Seconds of a processor: training by the method that was chosen in the end, with its comparison with a plain",
        "model, and training by default, with the race.",
        "",
        "| corpora | chosen | its seconds | by default | ratio |",
        "|---|---|---|---|---|",
        *times,
        "",
    ]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("race", __doc__, PAIRS, measured, page, words, seeds=1)


if __name__ == "__main__":
    main()
