"""What a kind of structure has to offer so that its annotation can be adapted (jiang-2015, 4): trees, say, or chains.

The steps of `training/transform.py` are written over this alone.
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
    """A training in the cascade.

    Attributes:
        number: from 1.
        of: how many there are at most.
        what: what is trained.
        last: whether it comes to the model that is wanted.
    """

    number: int
    of: int
    what: str
    last: bool = False


class Parallel(NamedTuple, Generic[Annotation]):
    """Text with its own annotation, to be learned or predicted, and one annotation of every sentence as a guide."""

    corpus: Corpus
    guides: Sequence[Annotation]


class KBest(NamedTuple, Generic[Annotation]):
    """Annotations of one sentence, the best first, and their scores, float64[n]."""

    annotations: Sequence[Annotation]
    scores: Floats


class System(Protocol[Model, Annotation]):
    """What a kind of structure offers. An annotation is that of one sentence, complete, and comparable by ==."""

    @property
    def run(self) -> Run:
        """Of all steps; each fit has a part of it."""
        ...

    def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: Step) -> Model:
        """An ordinary model of corpora of one guideline, best on `dev`."""
        ...

    def train_transfer(
        self, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: Step
    ) -> Model:
        """A transfer model: the corpora's annotation is to be learned, that of another guideline guides."""
        ...

    def annotate(self, model: Model, corpus: Corpus) -> list[Annotation]:
        """What an ordinary model says of the text; the corpus's own annotation is not looked at."""
        ...

    def given(self, model: Model, corpus: Corpus) -> list[Annotation]:
        """The corpus's own annotation; what it leaves open is filled in by an ordinary model of its guideline."""
        ...

    def transform(self, transfer: Model, text: Parallel[Annotation]) -> list[Annotation]:
        """The best annotations of a transfer model; the corpus's own annotation is not looked at."""
        ...

    def candidates(self, transfer: Model, text: Parallel[Annotation], k: int) -> list[KBest[Annotation]]:
        """The k best of every sentence; fewer where there are fewer."""
        ...

    def scores(self, transfer: Model, corpus: Corpus, guides: Sequence[Sequence[Annotation]]) -> list[Floats]:
        """For every sentence and each of several guides, the score of the corpus's own annotation.

        It must be on one scale with the scores of `candidates`: log probabilities, or for a model without
        probabilities how much less than the best annotation's the score is.
        """
        ...

    def annotated(self, corpus: Corpus, annotations: Sequence[Annotation], guideline: str) -> Corpus:
        """The text as training data of a guideline; what the corpus's own annotation leaves unknown stays unknown."""
        ...

    def score(self, model: Model, dev: Corpus) -> float:
        """The score of an ordinary model on development data, higher is better."""
        ...


class GuidingSystem(System[Model, Annotation], Protocol[Model, Annotation]):
    """A system whose models may have another one in them, which guides them."""

    def train_guided(
        self, guide: Model, parallel: Sequence[Parallel[Annotation]], dev: Parallel[Annotation] | None, step: Step
    ) -> Model:
        """A guided model; in training alone the annotation of the parallel text takes the place of its guide's."""
        ...


@dataclass
class Steps:
    """Counts the steps of a cascade, and tells of each, with the time that has passed.

    Attributes:
        of: how many there are at most.
        run: is told, and may be cancelled between steps.
        done: how many were begun.
        begin: when the first was.
    """

    of: int
    run: Run
    done: int = 0
    begin: float = field(default_factory=time.perf_counter)

    def next(self, what: str, last: bool = False) -> Step:
        """The step that begins.

        Raises:
            KeyboardInterrupt: the run is cancelled.
        """
        self.run.stop_if_cancelled()
        self.done += 1
        self.run.tell(f"{self.done}/{self.of} {what} (after {time.perf_counter() - self.begin:.0f} s)")
        return Step(self.done, self.of, what, last)
