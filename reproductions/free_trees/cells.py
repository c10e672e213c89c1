"""Trainings: a treebank by a structure, and what its parser gets right of dev and test, sentence by sentence."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.free_trees.treebanks import Treebank
from reproductions.lab.cache import Cache, Result
from reproductions.lab.cell import finished
from reproductions.lab.corpora import digest
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.attachment import attachment
from tagweave.evidence.trees import only_head
from tagweave.kernels.projective import is_projective
from tagweave.learning.run import Callback, Run, Schedule
from tagweave.models.batches import batch_bounds
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor
from tagweave.structures.tree import tree_structure
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

PROJECTIVE, MIXED, FREE = "projective", "projective, then free", "free"
"""The systems: trained and decoded over projective trees; trained over these, decoded over all; both over all."""
_DECODING = {PROJECTIVE: (PROJECTIVE, MIXED), FREE: (FREE,)}


def result(cache: Cache, bank: Treebank, trained: str, seed: int, iterations: int, callback: Callback) -> Result:
    """That of a training, from the cache or from now.

    Returns:
        `seconds` of processor time, `iterations`, `sums` (microseconds a training token), and in `systems`, by the name
        of each that has these weights and by part, for every sentence its [right heads, right arcs, tokens], and
        `crossing`, how many of its trees cross.
    """
    description = {
        "data": [digest(part) for part in bank.parts],
        "trained": trained,
        "seed": seed,
        "iterations": iterations,
    }

    def run() -> Result:
        return _run(bank, trained, Run(Schedule(iterations, iterations), callback), seed)

    return cache.result(f"{bank.name} {trained} {seed}", description, run)


def _run(bank: Treebank, trained: str, run: Run, seed: int) -> Result:
    recipe = Recipe(Task("parse"), settings={"seed": seed}, projective=trained == PROJECTIVE)
    train, dev, test = bank.parts
    warm = train.with_sentences(train.sentences[:30])
    finished(fit([warm], recipe, dev.with_sentences(dev.sentences[:10]), Run(Schedule(1))))
    begin = time.process_time()
    fitted = finished(fit([train], recipe, dev, run))
    seconds = time.process_time() - begin
    systems = {
        name: {part: _parsed(fitted.model, gold, name == PROJECTIVE) for part, gold in (("dev", dev), ("test", test))}
        for name in _DECODING[trained]
    }
    return {
        "seconds": seconds,
        "iterations": fitted.outcome.iterations,
        "sums": _sums(fitted.model, train),
        "systems": systems,
    }


def _parsed(model: TreeModel, gold: Corpus, projective: bool) -> dict[str, Any]:
    found = gold.with_sentences(TreePredictor(model, projective=projective).parse(gold))
    scores = attachment(gold, found)
    right = np.column_stack([scores.head_counts[:, 0], scores.arc_counts[:, 0], scores.head_counts[:, 1]])
    return {"counts": right.tolist(), "crossing": int(crosses(found).sum())}


def crosses(corpus: Corpus) -> NDArray[np.bool_]:
    """bool[S]: whether known arcs of a sentence cross."""
    layers = (sentence.heads[corpus.guideline] for sentence in corpus)
    return np.array([not is_projective(np.array([*map(only_head, layer)], np.int32)) for layer in layers])


def _sums(model: TreeModel, train: Corpus) -> float:
    """Microseconds of processor time for the sums over all trees of a training sentence, by token."""
    encoded, structure = model.encode(train.sentences), tree_structure(model.single_root, model.projective)
    seconds = 0.0
    for bounds in batch_bounds(encoded):
        batch = model.parameters.batch(encoded, *bounds)
        scores = model.scoring.scores(batch)
        begin = time.process_time()
        structure.sums(scores, batch)
        seconds += time.process_time() - begin
    return 1e6 * seconds / train.tokens()
