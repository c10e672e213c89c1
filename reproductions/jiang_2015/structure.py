"""What a kind of structure has to offer so that its adaptation can be measured: words, or trees.

All that is found is kept as *lines*, one string a sentence, which hold the annotation and nothing of the text. The
steps of `adaptation.py`, what `trainings.py` keeps and what `summary.py` counts are written over this alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.cache import Result
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import Counts, Metric
from tagweave.learning.run import SILENT, Run
from tagweave.training.cascades.system import System
from tagweave.training.fit.problem import Fitted

Lines = Sequence[str]
"""Of every sentence its annotation."""
Annotation = Any
"""That of one sentence as the structure's `System` has it."""
Model = Any
"""What decodes, and is stored."""


class Measure(NamedTuple):
    """How well lines agree with a gold standard.

    Attributes:
        counts: from the S sentences of the gold standard and their lines int64[S, K].
        metric: the score from summed counts.
    """

    counts: Callable[[Corpus, Lines], Counts]
    metric: Metric

    def score(self, gold: Corpus, lines: Lines) -> float:
        """0..1, of all sentences together."""
        return float(self.metric(self.counts(gold, lines).sum(axis=0)))


class Structure(Protocol):
    """A kind of structure, with the recipe of its trainings."""

    @property
    def name(self) -> str:
        """What its items are called: `words`, `trees`."""
        ...

    @property
    def unit(self) -> str:
        """What texts to be decoded are counted in."""
        ...

    @property
    def measures(self) -> Mapping[str, Measure]:
        """By what follows the name of the text that is measured on; that of "" tells which model is the best."""
        ...

    @property
    def least_change(self) -> float:
        """Points by which the recall of a kind of items must have changed to be shown (5.3)."""
        ...

    def of_seed(self, seed: int, threads: int = 1) -> Structure:
        """The same with trainings that have this order of sentences."""
        ...

    def description(self) -> Result:
        """All of the recipe that the results depend on."""
        ...

    def told(self) -> Result:
        """What a page tells of the recipe: `learner`, and settings by their names."""
        ...

    def fit(self, corpora: Sequence[Corpus], dev: Corpus, run: Run = SILENT) -> Fitted:
        """An ordinary model of corpora of one guideline."""
        ...

    def fit_guided(self, corpus: Corpus, guide: Model, dev: Corpus, run: Run = SILENT) -> Fitted:
        """Model 1: a model of the corpus that is guided by one of another guideline."""
        ...

    def system(self, run: Run = SILENT) -> System[Annotation]:
        """Transfer models, and what they find."""
        ...

    def sizes(self, model: Model) -> Result:
        """How many `labels` and `weights` a model has."""
        ...

    def save(self, model: Model, path: Any) -> None:
        """Write a model."""
        ...

    def load(self, path: Any) -> Model:
        """Read a model."""
        ...

    def found(self, model: Model, corpus: Corpus, threads: int = 1) -> list[str]:
        """The lines that a model finds in the text of a corpus, whose own annotation is not looked at."""
        ...

    def decoder(self, model: Model, corpus: Corpus) -> Callable[[], None]:
        """Something that decodes the raw text of a corpus on one thread whenever it is called."""
        ...

    def length(self, corpus: Corpus) -> int:
        """How long the text of a corpus is, in the unit."""
        ...

    def of_corpus(self, corpus: Corpus) -> list[str]:
        """The lines of a corpus's own annotation."""
        ...

    def of_annotations(self, annotations: Iterable[Annotation]) -> list[str]:
        """The lines of annotations."""
        ...

    def annotations(self, lines: Iterable[str]) -> list[Annotation]:
        """The annotations of lines."""
        ...

    def corpus(self, text: Corpus, lines: Lines, guideline: str) -> Corpus:
        """The text of a corpus with the annotation of lines, under a guideline.

        Raises:
            ValueError: as many lines as sentences are expected, or lines are those of another text.
        """
        ...

    def kinds(self, gold: Corpus) -> list[str]:
        """Of every one of the N items of a gold standard its kind (Tables 12 and 13); "" has none."""
        ...

    def right(self, gold: Corpus, lines: Lines) -> NDArray[np.bool_]:
        """bool[N]: which of these items the lines have."""
        ...


def digest(lines: Iterable[str]) -> str:
    """What tells lines from others."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
