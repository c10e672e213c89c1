"""Rounds of annotation: the first N words of a ranking are marked, and a model is trained with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reproductions.tsuboi_2008.annotator import Annotator, until_words
from reproductions.tsuboi_2008.retraining import retrained
from tagweave.annotate.selection import Occurrences, most_uncertain
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.training.fit.recipe import Recipe


@dataclass(frozen=True)
class Rounds:
    """Rounds with one model, one annotator and one list of words, for any strategy and number of marked words.

    All occurrences are ranked once, by the model of the source domain, as the paper does (footnote 9).

    Attributes:
        model: the model of the source domain.
        source: the corpus it was trained on.
        annotator: the annotator who is asked.
        words: different, non-empty words, about whose occurrences the annotator is asked.
        recipe, dev, run: those of every training.
        context: as for `most_uncertain`.
        seed: seed of the strategy `random`.
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
            ranking = most_uncertain(self.model, shown, self.words, strategy, self.context, self.seed, threads)
            self._ranked[strategy] = ranking.occurrences, self.annotator.answers(ranking.occurrences)
        return self._ranked[strategy]

    def questions(self, strategy: str, words: int) -> tuple[int, int]:
        """How many questions it takes to mark so many words, and how many they mark, which may be fewer."""
        answers = self.ranked(strategy)[1]
        questions = until_words(answers, words)
        return questions, int(answers[:questions].sum())

    def annotated(self, strategy: str, words: int) -> Corpus:
        """The sentences with the first `words` words marked, under the guideline of the source."""
        asked = self.ranked(strategy)[0].only(slice(self.questions(strategy, words)[0]))
        return self.annotator.annotated(asked, self.source.guideline)

    def trained(self, strategy: str, treatment: str, words: int) -> ChainModel:
        """A model trained on the source and these sentences. Raises as `retrained`."""
        marked = self.annotated(strategy, words)
        return retrained(treatment, self.model, self.source, marked, self.recipe, self.dev, self.run)
