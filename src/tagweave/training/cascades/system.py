"""What annotation adaptation (jiang-2015, 4) does with models, for any structure: the steps of `cascades/transform.py`.

A structure adds how annotation is shown to a model, read from it and scored (`chain_system`, `tree_system`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import SILENT, Run
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe

Annotation = TypeVar("Annotation")
Floats = NDArray[np.float64]


class FitStep(NamedTuple):
    """One fit of a cascade. `number`: its number, from 1."""

    number: int
    of: int
    what: str
    last: bool = False


class Parallel(NamedTuple, Generic[Annotation]):
    """Text with its own annotation, to learn or predict, and a guiding annotation of every sentence."""

    corpus: Corpus
    guides: Sequence[Annotation]


class KBest(NamedTuple, Generic[Annotation]):
    """The best annotations of one sentence, the best first, with their scores, float64[n]."""

    annotations: Sequence[Annotation]
    scores: Floats


@dataclass(frozen=True)
class System(ABC, Generic[Annotation]):
    """Fits and uses models of one structure. An annotation is for one sentence, complete, and comparable with ==.
    `recipe`: the recipe of every model; its sample is ignored. Templates of trees must use only layers and columns of
    all corpora."""

    recipe: Recipe
    run: Run = SILENT

    def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: FitStep) -> Fitted:
        """Fit an ordinary model to corpora of one guideline; `dev` selects the best iteration."""
        return self._fit(corpora, self.recipe, dev, step)

    def train_transfer(
        self, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: FitStep
    ) -> Fitted:
        """Fit a transfer model: it learns the corpora's annotation, guided by annotation of another guideline."""
        return self._fit([*map(self.shown, parallel)], self.transfer_recipe(), dev and self.shown(dev), step)

    def train_guided(
        self, guide: Fitted, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: FitStep
    ) -> Fitted:
        """Fit a model that contains a guide (`fit_guided`); in training, the annotation of the parallel text replaces
        the guide's."""
        shown = [self.shown(text, guide) for text in parallel]
        return self._fit(shown, self.recipe, dev and self.shown(dev, guide), step, guide)

    def _fit(
        self, corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus | None, step: FitStep, guide: Fitted | None = None
    ) -> Fitted:
        recipe = replace(recipe, sample=())
        step_run = self.run.part(f"step-{step.number}")
        if guide is None:
            fitted = fit(corpora, recipe, dev, step_run)
        else:
            fitted = fit_guided(corpora, guide.model, recipe, dev, step_run)
        if fitted.outcome.interrupted and not step.last:
            raise KeyboardInterrupt
        return fitted

    @abstractmethod
    def transfer_recipe(self) -> Recipe:
        """Return the recipe of transfer models, with templates over the guiding annotation."""

    @abstractmethod
    def shown(self, text: Parallel[Annotation], guide: Fitted | None = None) -> Corpus:
        """Return the corpus with the guiding annotation, as transfer models or models with a guide see it."""

    @abstractmethod
    def annotate(self, fitted: Fitted, corpus: Corpus) -> list[Annotation]:
        """Return the best annotations of a model; the corpus's own annotation is ignored."""

    @abstractmethod
    def own_annotations(self, fitted: Fitted, corpus: Corpus) -> list[Annotation]:
        """Return the corpus's own annotation, completed by an ordinary model of its guideline."""

    def transform(self, transfer: Fitted, text: Parallel[Annotation]) -> list[Annotation]:
        """Return the best annotations of a transfer model; the corpus's own annotation is ignored."""
        return self.annotate(transfer, self.shown(text))

    @abstractmethod
    def candidates(self, transfer: Fitted, text: Parallel[Annotation], k: int) -> list[KBest[Annotation]]:
        """Return the k best annotations of every sentence, or all if there are fewer.

        Scores are log probabilities, or for a perceptron distances from the best.
        """

    @abstractmethod
    def scores(self, transfer: Fitted, corpus: Corpus, guides: Sequence[Sequence[Annotation]]) -> list[Floats]:
        """Return for every sentence and each of several guides the score of the corpus's own annotation.

        It is log Z(x; what the corpus allows) - log Z(x), on the scale of `candidates`; for a perceptron with the best
        score in place of log Z (its limit for large weights). Evidence that allows nothing has -inf.
        """

    @abstractmethod
    def annotated(self, corpus: Corpus, annotations: Sequence[Annotation], guideline: str) -> Corpus:
        """Return the text as training data of a guideline; positions unknown in its own annotation stay unknown."""

    def relabelled(self, transfer: Fitted, text: Parallel[Annotation], guideline: str) -> Corpus:
        """Return the text as training data of the transfer model's guideline, as far as that model believes in it.

        Positions unknown in the corpus's own annotation stay unknown.
        """
        return self.annotated(text.corpus, self.transform(transfer, text), guideline)


@dataclass
class Steps:
    """Counts the steps of a cascade and reports each with the elapsed time."""

    of: int
    run: Run
    count: int = 0
    begin: float = field(default_factory=time.perf_counter)

    def next(self, what: str, last: bool = False) -> FitStep:
        """Begin the next step."""
        self.run.stop_if_cancelled()
        self.count += 1
        self.run.tell(f"{self.count}/{self.of} {what} (after {time.perf_counter() - self.begin:.0f} s)")
        return FitStep(self.count, self.of, what, last)
