"""A problem: training data made ready for a learner, for any structure, and the model that solves it."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.learning import loop
from tagweave.learning.loop import FitOutcome
from tagweave.learning.run import SILENT, Run
from tagweave.learning.staying_near import Before, StayingNear
from tagweave.learning.trainer import Objective, Trainer
from tagweave.models.packing import rounded
from tagweave.training.fit.recipe import Recipe

Floats = NDArray[Any]


@dataclass(frozen=True)
class Fitted:
    """A model and how its training went.

    Attributes:
        notes: lines for the user about the training data.
        first: the model of the labels of TRAIN as they are, where development data show that these often err.
    """

    model: Any
    outcome: FitOutcome
    notes: tuple[str, ...] = ()
    first: Any = None

    def finished_model(self) -> Any:
        """Return the model; raise KeyboardInterrupt if the user stopped its training, and with it all that follows."""
        self.outcome.check_finished()
        return self.model


@dataclass(frozen=True)
class Problem(ABC):
    """Training data made ready: everything that a learner needs, nothing trained yet.

    Attributes:
        before: what is kept of the model that training goes on from; `None` without one.
    """

    model: Any
    objective: Objective
    before: Before | None = field(default=None, kw_only=True)

    @property
    def beginning(self) -> Self | None:
        """The problem to solve first, whose weights this one starts from; `None` starts from the initial weights."""
        return None

    def trainer(self, recipe: Recipe) -> Trainer:
        """Return the learner of the recipe, as this problem needs it."""
        trainer = recipe.trainer()
        return trainer if self.before is None else StayingNear(trainer, self.before.occurrences)

    def kept(self, weights: Floats) -> Floats:
        """Return the weights to store and measure: merged with those of before, and rounded."""
        return rounded(self._merged(weights))

    def _merged(self, weights: Floats) -> Floats:
        merged = weights if self.before is None else self.before.merged(weights)
        return np.asarray(merged, self.model.weights.dtype)

    def about(self, recipe: Recipe) -> dict[str, Any]:
        """Return facts about the training for the model."""
        return {"recipe": recipe.to_json()}

    def finished(self, model: Any, outcome: FitOutcome, run: Run = SILENT) -> Fitted:
        """Return the result for a model with trained weights."""
        return Fitted(model, outcome)

    @abstractmethod
    def summary(self, recipe: Recipe) -> list[str]:
        """Return lines that tell the size of the problem."""

    @abstractmethod
    def dev_score(self, dev: Corpus, recipe: Recipe) -> Callable[[Floats], float]:
        """Return a function from weights to the score on development data, higher is better."""


def fit_problem(
    problem: Problem,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    trainer: Trainer | None = None,
    evaluate: Callable[[Floats], float] | None = None,
) -> Fitted:
    """Fit a problem that was made of corpora with the same recipe.

    If the problem has a `beginning`, its model is trained first, and the whole model is fine-tuned from its weights.
    Weights are rounded at the end, and for every score; training uses exact ones.
    """
    for line in problem.summary(recipe):
        run.tell(line)
    if dev is not None:
        evaluate = problem.dev_score(dev, recipe)
    score = evaluate and (lambda weights: evaluate(problem.kept(weights)))
    about = problem.about(recipe)
    beginning = None if trainer else problem.beginning
    trainer = trainer or problem.trainer(recipe)
    if (beginning or recipe.ratio) and "rate" not in recipe.settings:
        # the share of spans drifts if weights move fast: 5 points of F on dev of CoNLL-2003 with half of its names
        trainer = trainer.fine_tuning()
    first = run.part("start").phase("start: pointwise model")
    steps: list[tuple[Problem, Trainer, Run]] = [
        (problem, trainer, run.phase("then: whole model") if beginning else run)
    ]
    if beginning and not run.schedule.can_resume:
        steps.insert(0, (beginning, recipe.trainer(), first))
    return_freed_memory()
    weights = problem.model.weights
    for step, learner, step_run in steps:
        outcome = loop.train(learner, step.objective, weights, step_run, score)
        weights = step.kept(outcome.weights)
        facts = {**about, "dev_score": outcome.score, "iterations": outcome.iterations}
        fitted = step.finished(replace(step.model, weights=weights, about=facts), outcome, step_run)
        if fitted.outcome.interrupted:
            return fitted
    if beginning:
        first.finish()
    return fitted


def return_freed_memory() -> None:
    """Return memory to the system that was freed but is kept by glibc: an eighth of the peak, once text is encoded."""
    with suppress(AttributeError, OSError, TypeError):  # another C library, or Windows
        ctypes.CDLL(None).malloc_trim(0)
