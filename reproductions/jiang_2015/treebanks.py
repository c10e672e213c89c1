"""The treebanks of the parts about parsing, and how parsers of them are trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from reproductions.jiang_2015 import invented
from reproductions.jiang_2015.methods import TREE_ROUNDS, TREE_WAYS_BACK
from reproductions.jiang_2015.newspaper import some
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.tree_lines import without_relations
from reproductions.jiang_2015.trees import Trees
from reproductions.lab.corpora import Parts, cut, read_parts, there
from reproductions.lab.twice import Twice
from tagweave.corpus.load import load
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task
from tagweave.training.tree_problem import usual_templates

SCHEDULE = Schedule(4, 1)
LEARNERS = ("adagrad", "perceptron")
SOURCE = (4_000, 500, 500)
"""Trees of the English source corpus: with them it is about as large as the target."""
ENGLISH_BITS = 21
"""Of the table of weights: a guide doubles the number of features of many trees."""
QUICK, QUICK_BITS = Schedule(2), 15
"""Of invented trees."""
KEPT = 100
"""French sentences for development."""

_INVENTED = "invented trees"

Draw = Callable[[str, float, int], Pair]
"""From a learner, a share of the target's training data and a seed."""


def english(folder: Path | None) -> Draw:
    """Content heads of `en/ewt` to function heads of `en/wsj-dep`, without relations."""
    if folder is None:
        return lru_cache(1)(_invented)
    target, source = (
        Parts(*map(without_relations, read_parts(there(folder / "en" / name), guideline, "head")))
        for name, guideline in (("wsj-dep", "function"), ("ewt", "content"))
    )

    @lru_cache(1)
    def draw(learner: str, share: float, seed: int) -> Pair:
        drawn = Parts(*(some(corpus, count, seed) for corpus, count in zip(source, SOURCE, strict=True)))
        pair = _pair("en/ewt to en/wsj-dep", target, drawn, learner, SCHEDULE, ENGLISH_BITS)
        return pair.with_share(share, seed)

    return draw


def french(folder: Path | None) -> Draw:
    """`fr/gsd-ud` to `fr/gsd-sud`, the same sentences; no more than the order of sentences is drawn."""
    if folder is None:
        dev, test = invented.treebank(80), invented.treebank(30, 1)
        of_learner = partial(halves, _INVENTED, dev, test, 20, schedule=QUICK, bits=QUICK_BITS)
    else:
        dev, test = _read_twice(folder, "dev"), _read_twice(folder, "test")
        of_learner = partial(halves, "fr/gsd-ud to fr/gsd-sud", dev, test, KEPT, schedule=SCHEDULE)
    pairs = {learner: of_learner(learner=learner) for learner in LEARNERS}
    return lambda learner, _share, _seed: pairs[learner]


def halves(
    name: str, dev: Twice, test: Twice, kept: int, learner: str, schedule: Schedule, bits: int = Recipe.bits
) -> Pair:
    """The first guideline as the source, the second as the target, with all gold trees of the first for conversion.

    Args:
        name, learner, schedule: as in `Pair`.
        bits: of the table of weights.
        dev: its first half trains the source, its second half the target, but for the sentences that are kept.
        test: what is measured on.
        kept: how many of the last sentences of `dev` are development data of both.
    """
    end = len(dev.first) - kept
    source_train, given, source_dev = cut(dev.first, end // 2, end, len(dev.first))
    _, target_train, target_dev = cut(dev.second, end // 2, end, len(dev.second))
    target, source = Parts(target_train, target_dev, test.second), Parts(source_train, source_dev, test.first)
    left_out = f"Sentences left out since their tokens differ: {dev.left_out} of dev, {test.left_out} of test."
    pair = _pair(name, target, source, learner, schedule, bits, labelled=True)
    return replace(pair, given={"train": given, "dev": source_dev, "test": test.first}, notes=(left_out,))


def _pair(
    name: str, target: Parts, source: Parts, learner: str, schedule: Schedule, bits: int, labelled: bool = False
) -> Pair:
    templates = usual_templates(target.train.sentences, source.train.sentences)
    structure = Trees(Recipe(Task("parse"), templates, learner, bits=bits), labelled)
    return Pair(name, target, source, structure, schedule, TREE_WAYS_BACK, TREE_ROUNDS)


def _invented(learner: str, share: float, seed: int) -> Pair:
    corpora = invented.treebank(80, 2).second, invented.treebank(80, seed + 3).first
    target, source = (Parts(*map(without_relations, cut(corpus, 40, 60, 80))) for corpus in corpora)
    return _pair(_INVENTED, target, source, learner, QUICK, QUICK_BITS).with_share(share, seed)


def _read_twice(folder: Path, part: str) -> Twice:
    """A part of the French treebanks."""
    names = {"gsd-ud": "ud", "gsd-sud": "sud"}
    first, second = (
        load(f"{guideline}={there(folder / 'fr' / name) / part}.conllu#head") for name, guideline in names.items()
    )
    return Twice.of(first, second, same_tokens=True)
