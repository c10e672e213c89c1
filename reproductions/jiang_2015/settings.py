"""The recipes, the parts of the reproduction, and the corpora and methods of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from reproductions.jiang_2015.methods import (
    BASELINE,
    DECODING,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    PROBABILITIES,
    ROUNDS,
    SOURCE,
    WAYS_BACK,
    Method,
)
from reproductions.jiang_2015.newspaper import in_sentences, some
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.treebanks import english
from reproductions.jiang_2015.words import Words
from reproductions.lab.corpora import Parts, cut, of_sample, read_parts, there
from reproductions.lab.run import Setting
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.methods.adaptation import SHARES

PERCEPTRON = Recipe(Task("segment"), PRESETS["jiang-2015"], "perceptron", guide="joined")
"""That of the paper: Algorithm 1, Tables 1 and 3."""
ADAGRAD = Recipe(
    Task("segment"), PRESETS["liu-2014"], settings={"rate": 0.05, "batch": 16, "initial": 1e-8}, guide="window"
)
RECIPES = {"perceptron": PERCEPTRON, "adagrad": ADAGRAD}
WAYS = {"perceptron": (WAYS_BACK, ROUNDS), "adagrad": (SHARES, ROUNDS)}
"""The values of lambda, all or the usual ones, and the rounds of which Model 3 is the best."""
TITLES = {"perceptron": "the averaged perceptron", "adagrad": "AdaGrad"}
SCHEDULE = Schedule(10, 3)
SPD = (20_000, 1_000, 1_000)
"""Sentences of the source corpus (5.1)."""

Draw = Callable[[str, float, int], Pair]
"""From a learner, a share of the target's training data and a seed."""
Rivals = Setting[Pair, Method]

MODELS = (BASELINE, SOURCE, MERGING, MODEL_1, MODEL_2, MODEL_3, DECODING)
TREE_MODELS = (*MODELS[:-1], *PROBABILITIES, DECODING)
TREE_SHARES = (1.0, 0.25, 0.1)


def _models(folder: Path | None) -> list[Rivals]:
    draw = _pairs(folder)
    return [Setting(f"models-{name}", f"With {TITLES[name]}", partial(draw, name, 1.0), MODELS) for name in RECIPES]


def _parsing_models(folder: Path | None) -> list[Rivals]:
    draw = english(folder)
    return [
        Setting(
            f"parsing-models-{share:g}",
            f"{share:.0%} of the target trees",
            partial(draw, "adagrad", share),
            TREE_MODELS,
        )
        for share in TREE_SHARES
    ]


def _pairs(folder: Path | None) -> Draw:
    """What draws a pair: from the folder of all corpora, or from the bundled sample."""
    if folder is None:
        return lru_cache(1)(_of_sample)
    target = read_parts(there(folder / "zh" / "zx"), "ctb")
    source = Parts(*map(in_sentences, read_parts(there(folder / "zh" / "pd199801"), "pd")))
    name = "zh/pd199801 to zh/zx"

    @lru_cache(1)
    def draw(learner: str, share: float, seed: int) -> Pair:
        drawn = Parts(*(some(corpus, count, seed) for corpus, count in zip(source, SPD, strict=True)))
        return Pair(name, target, drawn, Words(RECIPES[learner]), SCHEDULE, *WAYS[learner]).with_share(share, seed)

    return draw


def _of_sample(learner: str, share: float, seed: int) -> Pair:
    target = Parts(*cut(of_sample("ctb.txt", "ctb"), 32, 48, 64))
    source = Parts(*(some(corpus, 32, seed) for corpus in cut(in_sentences(of_sample("pd.txt", "pd")), 80, 100, 120)))
    return Pair("the sample corpus", target, source, Words(RECIPES[learner]), Schedule(2), *WAYS[learner]).with_share(
        share, seed
    )


PARTS: dict[str, Callable[[Path | None], list[Rivals]]] = {
    "models": _models,
    "parsing-models": _parsing_models,
}
"""What a command may ask for: Tables 6, 8 and 12, of words; Tables 7, 9 and 13, of trees."""
