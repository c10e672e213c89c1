"""Rounds of annotation: the first N words of a ranking are marked, and a model is trained with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tagweave.active.annotator import Annotator, until_words
from tagweave.active.retrain import retrained
from tagweave.active.strategies import Occurrences, most_uncertain
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.training.recipe import Recipe


@dataclass(frozen=True)
class Rounds:
    """One model, one annotator, one list of words; what is marked depends on the strategy and the number of words.

    All occurrences are ranked once, by the model of the source domain, as the paper does (footnote 9).

    Attributes:
        model: of the source domain.
        source: the corpus that it was trained on.
        annotator: who is asked.
        words: different, non-empty: their occurrences are asked for.
        recipe, dev, run: of every training.
        context: as for `most_uncertain`.
        seed: of the strategy `random`.
    """

    model: ChainModel
    source: Corpus
    annotator: Annotator
    words: Sequence[str]
    recipe: Recipe
    dev: Corpus | None = None
    run: Run = SILENT
    context: int = 2
    seed: int = 0
    _ranked: dict[str, tuple[Occurrences, NDArray[np.bool_]]] = field(default_factory=dict, repr=False)

    def ranked(self, strategy: str) -> tuple[Occurrences, NDArray[np.bool_]]:
        """The occurrences in the order of the questions, and bool[K], the answers. Raises as `most_uncertain`."""
        if strategy not in self._ranked:
            shown, threads = self.annotator.sentences, self.recipe.threads
            found = most_uncertain(
                self.model, shown, self.words, strategy, self.context, self.seed, threads
            ).occurrences
            self._ranked[strategy] = found, self.annotator.answers(found)
        return self._ranked[strategy]

    def questions(self, strategy: str, words: int) -> tuple[int, int]:
        """How many questions it takes until so many words are marked, and how many are; fewer if there are no more."""
        answers = self.ranked(strategy)[1]
        questions = until_words(answers, words)
        return questions, int(answers[:questions].sum())

    def annotated(self, strategy: str, words: int) -> Corpus:
        """The sentences in which the first so many words are marked, under the guideline of the source."""
        found = self.ranked(strategy)[0].only(slice(self.questions(strategy, words)[0]))
        return self.annotator.annotated(found, self.source.guideline)

    def trained(self, strategy: str, treatment: str, words: int) -> ChainModel:
        """A model of the source and of these sentences. Raises as `retrained`."""
        marked = self.annotated(strategy, words)
        return retrained(treatment, self.model, self.source, marked, self.recipe, self.dev, self.run)
