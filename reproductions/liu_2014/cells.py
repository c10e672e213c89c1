"""The cells of the experiments: one training run each.

A cell keeps the words that its model finds in development and test data, as their lengths, and no scores: so measures
may change without training again. Its description has what was trained on, not how that was chosen, so parts share the
trainings that they have in common.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.lab.cache import Cache, Result
from reproductions.lab.corpora import digest
from reproductions.lab.words import segmented
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import Method
from reproductions.liu_2014.partial import Partial, partial
from tagweave import __version__
from tagweave.features.presets import PRESETS
from tagweave.learning.loop import Watcher
from tagweave.training.fit import Fitted, fit
from tagweave.training.recipe import Recipe


@dataclass(frozen=True)
class Cell:
    """One training run.

    Attributes:
        domain, method: from what, and how.
        seed: of the order of sentences, and of what is drawn.
        cache: where results are kept.
        threads: of the training.
        watcher: is told of every iteration.
    """

    domain: Domain
    method: Method
    seed: int
    cache: Cache
    threads: int = 1
    watcher: Watcher | None = None

    def result(self) -> Result:
        """The result from the cache or, where it is not there, from a run.

        Returns:
            `sentences` (partially annotated ones) and `marked` (words or spans in them), `labels` and `weights` (how
            many), `history` (the loss of every iteration), `seconds`; `dev` (if there is any) and `test`, of every
            sentence the lengths of its words as one string.

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped the training.
        """
        name = f"{self.domain.name} {self.method.name} {self.seed}"
        return self.cache.result(name, self.description(), self.run)

    def description(self) -> Result:
        """What the result depends on."""
        recipe = {name: value for name, value in self.recipe().to_json().items() if name != "threads"}
        words = "\n".join(self.domain.listed) if self.method.columns else ""
        return {
            "version": __version__,
            "domain": self.domain.name,
            "method": self.method.name,
            "texts": self.domain.digests,
            "partial": [[digest(each.corpus), each.marked] for each in self.partial],
            "words": hashlib.sha256(words.encode()).hexdigest()[:12],
            "recipe": recipe,
            "iterations": self.domain.schedule.iterations,
            "seed": self.seed,
        }

    def run(self) -> Result:
        """Train, and segment. Returns and raises as `result`."""
        begin = time.perf_counter()
        fitted = self._fit()
        if fitted.outcome.interrupted:
            raise KeyboardInterrupt
        model = fitted.model
        found = {part: segmented(model, gold, self.threads, whole_runs=True) for part, gold in self.domain.gold.items()}
        return {
            "sentences": sum(len(each.corpus) for each in self.partial),
            "marked": sum(each.marked for each in self.partial),
            "labels": len(model.structure.space),
            "weights": len(model.weights),
            "history": [iteration.loss for iteration in fitted.outcome.history],
            "seconds": round(time.perf_counter() - begin, 2),
            **found,
        }

    @cached_property
    def partial(self) -> list[Partial]:
        """The partially annotated sentences of every source of the method."""
        return [partial(self.domain, source, self.seed) for source in self.method.partial]

    def recipe(self) -> Recipe:
        """That of the domain with this cell's seed, and templates over the lexicon where the method has them."""
        recipe = self.domain.recipe
        templates = PRESETS["liu-2014-lexicon"] if self.method.columns else recipe.templates
        settings = {**recipe.settings, "seed": self.seed}
        return replace(recipe, templates=templates, settings=settings, threads=self.threads)

    def _fit(self) -> Fitted:
        corpora = [self.domain.train, *(each.corpus for each in self.partial if len(each.corpus))]
        lexicon = self.domain.listed if self.method.columns else ()
        return fit(corpora, self.recipe(), None, self.domain.schedule, self.watcher, lexicon)


def cells(cache: Cache, threads: int, watcher: Watcher | None) -> Callable[[Domain, Method, int], Result]:
    """As `reproductions.lab.study.Study.cells`."""
    return lambda domain, method, seed: Cell(domain, method, seed, cache, threads, watcher).result()
