"""The interface that annotation adaptation (jiang-2015, 4) needs of a kind of structure, such as chains or trees.

The steps of `training/transform.py` use only this interface.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Run

Model = TypeVar("Model")
Annotation = TypeVar("Annotation")
Floats = NDArray[np.float64]


class Step(NamedTuple):
    """One fit of a cascade.

    Attributes:
        number: its number, from 1.
        of: the maximum number of steps.
        what: what it trains.
        last: whether it trains the final model.
    """

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


class System(Protocol[Model, Annotation]):
    """The operations of a kind of structure. An annotation is for one sentence, complete, and comparable with ==."""

    @property
    def run(self) -> Run:
        """The run of all steps; each fit is a part of it."""
        ...

    def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: Step) -> Model:
        """Fit an ordinary model to corpora of one guideline; `dev` selects the best iteration."""
        ...

    def train_transfer(
        self, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: Step
    ) -> Model:
        """Fit a transfer model: it learns the corpora's annotation, guided by that of another guideline."""
        ...

    def annotate(self, model: Model, corpus: Corpus) -> list[Annotation]:
        """The annotations of an ordinary model; the corpus's own annotation is ignored."""
        ...

    def given(self, model: Model, corpus: Corpus) -> list[Annotation]:
        """The corpus's own annotation, completed by an ordinary model of its guideline."""
        ...

    def transform(self, transfer: Model, text: Parallel[Annotation]) -> list[Annotation]:
        """The best annotations of a transfer model; the corpus's own annotation is ignored."""
        ...

    def candidates(self, transfer: Model, text: Parallel[Annotation], k: int) -> list[KBest[Annotation]]:
        """The k best annotations of every sentence, or all if there are fewer."""
        ...

    def scores(self, transfer: Model, corpus: Corpus, guides: Sequence[Sequence[Annotation]]) -> list[Floats]:
        """For every sentence and each of several guides, the score of the corpus's own annotation.

        Scores are on the scale of `candidates`: log probabilities, or for a model without probabilities the difference
        from the score of the best annotation.
        """
        ...

    def annotated(self, corpus: Corpus, annotations: Sequence[Annotation], guideline: str) -> Corpus:
        """The text as training data of a guideline; positions unknown in the corpus's own annotation stay unknown."""
        ...

    def relabelled(self, transfer: Model, text: Parallel[Annotation], guideline: str) -> Corpus:
        """The text as training data of the transfer model's guideline, as far as that model believes in it.

        Positions unknown in the corpus's own annotation stay unknown.
        """
        ...

    def score(self, model: Model, dev: Corpus) -> float:
        """The score of an ordinary model on development data, higher is better."""
        ...


class GuidingSystem(System[Model, Annotation], Protocol[Model, Annotation]):
    """A system whose models may contain another model that guides them."""

    def train_guided(
        self, guide: Model, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: Step
    ) -> Model:
        """Fit a guided model; only in training, the annotation of the parallel text replaces its guide's."""
        ...


@dataclass
class Steps:
    """Counts the steps of a cascade and reports each with the elapsed time.

    Attributes:
        of: the maximum number of steps.
        run: gets the reports, and may be cancelled between steps.
        count: how many steps have begun.
        begin: when the first one began.
    """

    of: int
    run: Run
    count: int = 0
    begin: float = field(default_factory=time.perf_counter)

    def next(self, what: str, last: bool = False) -> Step:
        """Begin the next step.

        Raises:
            KeyboardInterrupt: the run is cancelled.
        """
        self.run.stop_if_cancelled()
        self.count += 1
        self.run.tell(f"{self.count}/{self.of} {what} (after {time.perf_counter() - self.begin:.0f} s)")
        return Step(self.count, self.of, what, last)
