"""Methods for two guidelines: what a race says of them, what all of the text says, and what the race costs.

`python -m benchmarks.race`: each pair of corpora is trained by every method that races, and by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_methods
from benchmarks.scores import score
from tagweave.learning.run import Silence

METHODS = ("single", "stacked", "coupled", "transform")


class Pair(NamedTuple):
    """A target corpus, how many of its sentences are used, and a source of another guideline."""

    target: str
    sentences: int
    source: str
    dev: str
    test: str
    task: str


def _of_crossner(domain: str) -> Pair:
    train, dev, test = (f"en/crossner/{domain}/{part}.txt" for part in ("train", "dev", "test"))
    return Pair(train, 200, "en/conll2003/train.txt", dev, test, "spans")


PAIRS = {
    "Zhuxian, People's Daily: tags": Pair(
        "zh/zx/train.txt", 2373, "zh/pd199801/train.txt", "zh/zx/dev.txt", "zh/zx/test.txt", "tag"
    ),
    "300 sentences of Zhuxian, People's Daily: tags": Pair(
        "zh/zx/train.txt", 300, "zh/pd199801/train.txt", "zh/zx/dev.txt", "zh/zx/test.txt", "tag"
    ),
    "1,000 sentences of UD Chinese (XPOS), Zhuxian: tags": Pair(
        "zh/udc/train.conllu#xpos", 1000, "zh/zx/train.txt", "zh/udc/dev.conllu#xpos", "zh/udc/test.conllu#xpos", "tag"
    ),
    "800 sentences of WSJ, EWT (XPOS): tags": Pair(
        "en/wsj/train.txt", 800, "en/ewt/train.conllu#xpos", "en/wsj/dev.txt", "en/wsj/test.txt", "tag"
    ),
    "500 sentences of Zhuxian, People's Daily: words": Pair(
        "zh/zx/train.txt", 500, "zh/pd199801/train.txt", "zh/zx/dev.txt", "zh/zx/test.txt", "segment"
    ),
    "CrossNER politics, CoNLL-2003: entities": _of_crossner("politics"),
    "CrossNER science, CoNLL-2003: entities": _of_crossner("science"),
    "CrossNER AI, CoNLL-2003: entities": _of_crossner("ai"),
}


class Result(NamedTuple):
    """Scores in percent, and seconds of a processor. `race`: the scores of the race, by method."""

    dev: float
    test: float
    seconds: float
    method: str
    race: dict[str, float]


def trained(pair: Pair, method: str) -> Result:
    """Train by a method, or by default, which names none."""
    folder = corpora_folder()
    target, source, dev, test = (tw.load(str(folder / each)) for each in (pair[0], *pair[2:5]))
    target = target.with_sentences(target.sentences[: pair.sentences])
    begin = process_time()
    sources = [] if method == "single" else [source]
    model: Any = tw.train(
        target, sources, dev=dev, task=pair.task, method=None if method == "default" else method, callback=Silence()
    )
    seconds, about = process_time() - begin, model.about
    race = {name: 100 * score for name, score in about.get("race", {}).items()}
    return Result(100 * about["dev_score"], score(model, test), seconds, about["plan"]["method"], race)


def page(found: dict[str, dict[str, Result]], command: str) -> list[str]:
    """Return the lines of the page."""
    rows, times = [], []
    for name, results in found.items():
        default = results["default"]
        for what, scores in (
            ("race, dev", [default.race.get(each) for each in METHODS] + [None]),
            ("all, dev", [results[each].dev for each in METHODS] + [default.dev]),
            ("all, test", [results[each].test for each in METHODS] + [default.test]),
        ):
            cells = ("" if each is None else f"{each:.2f}" for each in scores)
            rows.append(f"| {name} | {what} | {' | '.join(cells)} |")
        own = results[default.method].seconds
        times.append(f"| {name} | {default.method} | {own:.0f} | {default.seconds:.0f} | {default.seconds / own:.2f} |")
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
    by_methods("race", __doc__, PAIRS, (*METHODS, "default"), trained, page, words)


if __name__ == "__main__":
    main()
