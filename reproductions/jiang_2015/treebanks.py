"""The treebanks of the parts about parsing, and how parsers of them are trained."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from reproductions.jiang_2015 import invented
from reproductions.jiang_2015.methods import TREE_ROUNDS, TREE_WAYS_BACK
from reproductions.jiang_2015.newspaper import some
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.tree_lines import without_relations
from reproductions.jiang_2015.trees import Trees
from reproductions.lab.corpora import Parts, cut, read_parts, there
from tagweave.learning.run import Schedule
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.fit.tree_problem import usual_templates

SCHEDULE = Schedule(4, 1)
SOURCE = (4_000, 500, 500)
"""Trees of the English source corpus: with them it is about as large as the target."""
ENGLISH_BITS = 21
"""Of the table of weights: a guide doubles the number of features of many trees."""
QUICK, QUICK_BITS = Schedule(2), 15
"""Of invented trees."""
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


def _pair(name: str, target: Parts, source: Parts, learner: str, schedule: Schedule, bits: int) -> Pair:
    templates = usual_templates(target.train.sentences, source.train.sentences)
    structure = Trees(Recipe(Task("parse"), templates, learner, bits=bits))
    return Pair(name, target, source, structure, schedule, TREE_WAYS_BACK, TREE_ROUNDS)


def _invented(learner: str, share: float, seed: int) -> Pair:
    corpora = invented.treebank(80, 2).second, invented.treebank(80, seed + 3).first
    target, source = (Parts(*map(without_relations, cut(corpus, 40, 60, 80))) for corpus in corpora)
    return _pair(_INVENTED, target, source, learner, QUICK, QUICK_BITS).with_share(share, seed)
