"""A text that is annotated twice, under two definitions of words, as a pair of corpora of different sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproductions.lab.corpora import there
from reproductions.lab.twice import Twice
from reproductions.sun_wan_2012.pair import Pair
from tagweave.corpus.load import load
from tagweave.learning.run import Schedule
from tagweave.training.recipe import Recipe


def read_twice(folder: Path, first: tuple[str, str], second: tuple[str, str], part: str) -> Twice:
    """A part (`dev`, `test`) of two folders of CoNLL-U with UPOS tags.

    Args:
        folder: of both.
        first, second: the name of each folder, and of its guideline.
        part: the name of the files.

    Raises:
        CorpusError: no such folder, or not the same text; and as `load`.
        OSError: a file cannot be read.
    """
    one, other = (load(f"{guideline}={there(folder / name) / part}.conllu#upos") for name, guideline in (first, second))
    return Twice.of(one, other)


def halves(train: Twice, test: Twice, seed: int, recipe: Recipe, schedule: Schedule, folds: int) -> Pair:
    """The first guideline as the source, the second as the target: of the training sentences each sees its own half.

    Args:
        train, test: the text.
        seed: draws the halves.
        recipe, schedule, folds: as in `Pair`.
    """
    chosen = np.random.default_rng(seed).permutation(len(train.first)) < len(train.first) // 2
    source = train.first.with_sentences(each for each, own in zip(train.first, chosen, strict=True) if own)
    target = train.second.with_sentences(each for each, own in zip(train.second, chosen, strict=True) if not own)
    name = f"{source.guideline} to {target.guideline}"
    gold = {"test": test.second}
    return Pair(name, target, source, gold, recipe, schedule, folds, folds, given=test.first)
