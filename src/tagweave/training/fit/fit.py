"""Fits a model to corpora of one guideline, of any structure."""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.corpus.corpus import Corpus
from tagweave.features.encoder import Encoder
from tagweave.learning.run import SILENT, Run
from tagweave.structures import TREE
from tagweave.training.fit import chain_problem, tree_problem
from tagweave.training.fit.problem import Fitted, Problem, fit_problem
from tagweave.training.fit.recipe import Recipe


def fit(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Fit a model to corpora that share a guideline.

    Args:
        dev: development data: the iteration with the best score on it is kept, and training stops when the score no
            longer improves.
    """
    problem = prepare(corpora, recipe)
    if recipe.sample:
        run.tell(chain_problem.sample_line(corpora, recipe.sample))
    return fit_problem(problem, recipe, dev, run)


def prepare(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    names: Sequence[str] = (),
    encoder: Encoder | None = None,
) -> Problem:
    """Make the problem of corpora, in the structure of the recipe.

    Args:
        names: labels that a model must know even if no corpus names them.
        encoder: an empty encoder of labels to use in place of the recipe's.
    """
    if recipe.structure == TREE:
        return tree_problem.prepare(corpora, recipe)
    return chain_problem.prepare(corpora, recipe, names, encoder)
