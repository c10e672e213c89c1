"""Fits: corpora of one guideline to a model, by the loss of its structure or by mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.learning.loop import train
from tagweave.learning.run import SILENT, Run
from tagweave.learning.trainer import Trainer
from tagweave.models.chain_file import AnyEncoder
from tagweave.structures import TREE
from tagweave.training.chain_problem import prepare_chains
from tagweave.training.problem import Fitted, Floats, Problem
from tagweave.training.recipe import Recipe
from tagweave.training.tree_problem import prepare_trees


def fit(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    lookups: Lookups = NOTHING,
) -> Fitted:
    """Fit a model to corpora that share a guideline.

    Args:
        corpora: training data; positions may be full, ambiguous, unknown or uncertain.
        recipe: how to fit.
        dev: development data: the iteration with the best score on it is kept, and training stops when the score no
            longer improves.
        run: the run, with schedule, checkpoint and callback.
        lookups: what the templates of the recipe look up; the model keeps it.

    Raises:
        TemplateError: templates that look up what is not there, or lookups without such templates.
        CorpusError: no sentence, no label, corpora of different guidelines, or contradictory evidence; trees
            without tags, or with too many relations for the memory of this machine.
        TrainingError: the learner diverged.
    """
    return fit_problem(prepare(corpora, recipe, lookups=lookups), recipe, dev, run)


def prepare(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    names: Sequence[str] = (),
    encoder: AnyEncoder | None = None,
    lookups: Lookups = NOTHING,
) -> Any:
    """Return the `Problem` of corpora in the structure of the recipe. Raises as `fit`.

    `names` are labels that the model must know even if the corpora do not name them; `encoder` is an empty encoder to
    use in place of the recipe's.
    """
    if recipe.structure == TREE:
        return prepare_trees(corpora, recipe)
    return prepare_chains(corpora, recipe, names, encoder or recipe.encoder(lookups))


def fit_problem(
    problem: Problem,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Fit a problem that was made of corpora with the same recipe.

    If the problem has a `beginning`, its model is trained first, and the whole model is fine-tuned from its weights.

    Raises:
        CorpusError: development data without a position with one label or head.
    """
    for line in problem.summary(recipe):
        run.tell(line)
    evaluate = None if dev is None else problem.dev_score(dev, recipe)
    about, trainer, beginning = problem.about(recipe), problem.trainer(recipe), problem.beginning
    if beginning is None:
        # the share of spans drifts if weights move fast: 5 points of F on dev of CoNLL-2003 with half of its names
        return learn(problem, trainer.fine_tuning() if recipe.ratio else trainer, about, run, evaluate)
    first = run.part("start").phase("start: pointwise model")
    if not run.schedule.can_resume:
        fitted = learn(beginning, beginning.trainer(recipe), about, first, evaluate)
        if fitted.outcome.interrupted:
            return fitted
        problem = problem.with_weights(fitted.model.weights)
    fitted = learn(problem, trainer.fine_tuning(), about, run.phase("then: whole model"), evaluate)
    if not fitted.outcome.interrupted:
        first.finish()
    return fitted


def learn(
    problem: Problem,
    trainer: Trainer,
    about: dict[str, Any],
    run: Run = SILENT,
    evaluate: Callable[[Floats], float] | None = None,
) -> Fitted:
    """Train the weights of a problem and round them. Scores are those of rounded weights; training uses exact ones.

    Args:
        problem: the data, and the model with its initial weights.
        trainer: the algorithm.
        about: the `about` of the model; the development score and the number of iterations are added.
        run: the run, with schedule, checkpoint and callback.
        evaluate: the development score of weights, higher is better.
    """
    score = evaluate and (lambda weights: evaluate(problem.kept(weights)))
    with one_blas_thread():
        outcome = train(trainer, problem.objective, problem.model.weights, run, score)
    about = {**about, "dev_score": outcome.score, "iterations": outcome.iterations}
    return problem.finished(replace(problem.model, weights=problem.kept(outcome.weights), about=about), outcome, run)
