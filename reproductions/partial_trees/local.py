"""Parsing as one decision a token: what a tree model learns when training knows nothing of trees.

    loss = - sum over tokens m with a known head h of log(exp(score(h, m)) / sum over h' != m of exp(score(h', m)))

An unknown head adds nothing, so nothing is to be summed over; but what the known heads say of it is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.evidence.sequences import pointers
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.learning.loop import train
from tagweave.learning.run import SILENT, Run
from tagweave.models.arc_scorer import ArcBatch, ArcFeatures, ArcScoring
from tagweave.models.scorer import Blocks
from tagweave.models.tree import TreeModel
from tagweave.models.tree_objective import TreeObjective
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.tree_problem import dev_score, usual_templates

Floats = NDArray[Any]


class LocalObjective(TreeObjective):
    """The loss above and its gradient; a token that has several candidates counts as unknown."""

    def shuffled(self, order: NDArray[np.int64]) -> LocalObjective:
        """As the parent has it."""
        return LocalObjective(self.parameters, self.encoded.take(order), self.single_root, self.threads, self.dtype)

    def _add_loss(self, scoring: ArcScoring, batch: ArcBatch, gradient: Floats) -> tuple[float, Blocks | None]:
        scores, difference, loss = scoring.scores(batch), np.zeros(batch.size, self.dtype), 0.0
        known, tokens = batch.evidence.token_heads, pointers(batch.lengths)
        for s, length in enumerate(batch.lengths.tolist()):
            cells = slice(batch.cells[s], batch.cells[s + 1])
            own = scores[cells].reshape(length + 1, length + 1), difference[cells].reshape(length + 1, length + 1)
            loss += _add_decisions(*own, known[tokens[s] : tokens[s + 1]])
        return loss, scoring.add_gradient(batch, difference, gradient, self._threshold)


def _add_decisions(scores: Floats, difference: Floats, heads: NDArray[np.int32]) -> float:
    """The loss of one sentence; its derivative by the scores, by head and modifier, is added to `difference`."""
    modifiers = np.flatnonzero(heads >= 0) + 1
    heads, columns = heads[modifiers - 1], np.arange(len(modifiers))
    own = scores[:, modifiers].astype(np.float64)
    own[modifiers, columns] = -np.inf  # no token is its own head
    own -= own.max(axis=0)
    log_p = own - np.log(np.exp(own).sum(axis=0))
    difference[:, modifiers] += np.exp(log_p)
    difference[heads, modifiers] -= 1
    return -float(log_p[heads, columns].sum())


def fit_local(corpus: Corpus, recipe: Recipe, dev: Corpus, run: Run = SILENT) -> Fitted:
    """As `tagweave.training.fit.fit` where trees have no relations, with the loss above."""
    templates = usual_templates(corpus.sentences, siblings=False)
    features = ArcFeatures(templates, 1 << recipe.bits)
    objective = LocalObjective(features, encode_arcs(corpus.sentences, templates, corpus.guideline))
    model = TreeModel(features, np.zeros(features.size, np.float32), guideline=corpus.guideline)
    evaluate = dev_score(model, dev, recipe.threads)
    outcome = train(recipe.trainer(), objective, model.weights, run, evaluate)
    return Fitted(replace(model, weights=outcome.weights), outcome)
