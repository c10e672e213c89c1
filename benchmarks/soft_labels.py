"""Training under numbers beside training under sets: `python -m benchmarks.soft_labels [--quick]`.

Every token of a corpus gets three candidates: its label and two drawn at random, as a set, as a likelihood and as a
posterior. The numbers are either the same three everywhere, or different at nearly every token.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.characters import corpora_folder
from benchmarks.processes import publish
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.labels.sets import Reading
from tagweave.models.objective import ChainObjective
from tagweave.training.fit import Problem, prepare
from tagweave.training.recipe import Recipe

CORPORA = ("zh/zx/train.txt", "en/ewt/train.conllu#xpos")
_NUMBERS = np.array([0.6, 0.3, 0.1])
_TIMES = 7  # of which the first is not counted


class Row(NamedTuple):
    """A corpus under evidence of one kind, and what a loss with its gradient costs, in processor seconds."""

    corpus: str
    numbers: str
    kind: str
    labels: int
    rows: int
    preparing: float
    seconds: float
    ratio: float


def ambiguous(corpus: Corpus, candidates: Callable[[tuple[str, ...], np.random.Generator], Candidates]) -> Corpus:
    """The corpus with three candidates at every token; the same ones whatever is made of them."""
    names = sorted({name for sentence in corpus for each in sentence.layers[corpus.guideline] for name in each or ()})
    draw, number = np.random.default_rng(0), np.random.default_rng(1)

    def position(own: Candidates) -> Candidates:
        others = (names[at] for at in draw.integers(len(names), size=2).tolist())
        return candidates(tuple(dict.fromkeys((*(own or ()), *others))), number)

    def step(sentence: Sentence) -> Sentence:
        return sentence.with_layer(corpus.guideline, map(position, sentence.layers[corpus.guideline]))

    return corpus.map(step)


def _soft(noise: float) -> Callable[[tuple[str, ...], np.random.Generator], Candidates]:
    def candidates(names: tuple[str, ...], number: np.random.Generator) -> Candidates:
        p = _NUMBERS[: len(names)] + noise * number.random(len(names))
        return Soft(names, (p / p.sum()).tolist())

    return candidates


def problems(corpus: Corpus, noise: float) -> Iterator[tuple[str, Problem, float]]:
    """Kinds of evidence, each with its problem and the seconds that it takes to prepare."""
    kinds: tuple[tuple[str, Reading, Any], ...] = (
        ("sets", "posterior", lambda names, _: names),
        ("likelihoods", "likelihood", _soft(noise)),
        ("posteriors", "posterior", _soft(noise)),
    )
    for kind, reading, candidates in kinds:
        made, begin = ambiguous(corpus, candidates), time.process_time()
        yield kind, prepare([made], Recipe(soft_labels=reading)), time.process_time() - begin


def rows(arguments: tuple[str, ...]) -> Iterator[Row]:
    """The rows of the table."""
    for argument in arguments:
        corpus = load(str(corpora_folder() / argument))
        for name, noise in (("the same three", 0.0), ("different everywhere", 0.05)):
            made = list(problems(corpus, noise))
            seconds = _seconds([problem.objective for _, problem, _ in made])
            for (kind, problem, preparing), own in zip(made, seconds, strict=True):
                counts = len(problem.model.space), len(problem.sets)
                yield Row(argument, name, kind, *counts, preparing, own, own / seconds[0])


def _seconds(objectives: list[ChainObjective]) -> list[float]:
    """The least processor seconds of each; they take turns, so that what else runs slows all of them down."""
    found: list[list[float]] = [[] for _ in objectives]
    for _ in range(_TIMES):
        for own, objective in zip(found, objectives, strict=True):
            weights = np.random.default_rng(2).normal(0, 0.05, objective.size).astype(objective.dtype)
            begin = time.process_time()
            objective.loss_and_gradient(weights)
            own.append(time.process_time() - begin)
    return [min(own[1:]) for own in found]


def page(found: list[Row]) -> list[str]:
    """The lines of the page."""
    return [
        "# Speed of training under numbers",
        "",
        f"Written by `python -m benchmarks.soft_labels` ({platform.machine()}, Python {platform.python_version()}).",
        "Every token has three candidates: as a set, with numbers that are likelihoods, and with numbers that are",
        "posteriors. Processor seconds of one thread for the loss of all sentences with its gradient. Kinds take",
        "turns, and the ratio is to sets of the same candidates.",
        "",
        "| corpus | labels | numbers | evidence | different rows | preparing, s | loss and gradient, s | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {each.corpus} | {each.labels} | {each.numbers} | {each.kind} | {each.rows:,} | {each.preparing:.1f} |"
            f" {each.seconds:.2f} | {each.ratio:.2f} |"
            for each in found
        ),
    ]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the first corpus alone; write no page")
    options = parser.parse_args()
    found = list(rows(CORPORA[:1] if options.quick else CORPORA))
    publish("speed-soft-labels", page(found), [row._asdict() for row in found], options.quick)


if __name__ == "__main__":
    main()
