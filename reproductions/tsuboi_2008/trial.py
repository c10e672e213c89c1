"""One fold with one seed: the model of the source, the questions that it ranks, and trainings with the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.tsuboi_2008.annotator import Annotator
from reproductions.tsuboi_2008.domain import Domain
from reproductions.tsuboi_2008.methods import Method
from reproductions.tsuboi_2008.retraining import retrained
from reproductions.tsuboi_2008.rounds import Rounds
from tagweave.corpus.corpus import Corpus
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.learning.run import SILENCE, Callback, Run
from tagweave.models.chain import ChainModel
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


@dataclass(frozen=True, eq=False)
class Trial:
    """The trainings of one fold with one seed.

    Attributes:
        domain: the corpora.
        seed: of the order of sentences, and of the choice `random`.
        threads: of every training.
        callback: is told of every iteration.
    """

    domain: Domain
    seed: int
    threads: int = 1
    callback: Callback = SILENCE

    def model(self, method: Method) -> ChainModel:
        """The model of a method.

        Raises:
            KeyboardInterrupt: the user stopped the training.
        """
        if method.choice:
            return self.rounds.trained(method.choice, method.treatment, method.size)
        base, recipe = (self.featured, self._featuring) if method.features else (self.base, self._recipe)
        if method.treatment == "marginal" and not method.everything:
            return base
        domain = self.domain
        asked = domain.asked if method.everything else Corpus((), domain.source.guideline)
        given = recipe, domain.dev, self._run
        return retrained(method.treatment, base, domain.source, asked, *given)

    def questions(self, method: Method) -> tuple[int, int]:
        """How many questions it takes to have the words marked, and how many words are."""
        return self.rounds.questions(method.choice, method.size) if method.choice else (0, 0)

    @cached_property
    def rounds(self) -> Rounds:
        """The questions in their order, and the trainings."""
        domain, annotator = self.domain, Annotator.of(self.domain.asked)
        given = domain.words, self._recipe, domain.dev, self._run
        return Rounds(self.base, domain.source, annotator, *given, seed=self.seed)

    @cached_property
    def base(self) -> ChainModel:
        """CRF^S, the model of A alone, which all others need."""
        return self._of_source(self._recipe)

    @cached_property
    def featured(self) -> ChainModel:
        """The model of A alone that is told where words of the list stand."""
        return self._of_source(self._featuring, self.domain.words)

    def _of_source(self, recipe: Recipe, words: Sequence[str] = ()) -> ChainModel:
        domain = self.domain
        fitted = fit([domain.source], replace(recipe, lookups=Lookups(words=tuple(words))), domain.dev, self._run)
        model: ChainModel = fitted.finished_model()
        return model

    @property
    def _run(self) -> Run:
        return Run(self.domain.schedule, self.callback)

    @property
    def _recipe(self) -> Recipe:
        return Recipe(
            Task("segment"),
            PRESETS["liu-2014"],
            settings={"seed": self.seed, "batch": 16, "initial": 1e-8},
            threads=self.threads,
        )

    @property
    def _featuring(self) -> Recipe:
        return replace(self._recipe, templates=PRESETS["liu-2014-lexicon"])
