"""The cells of the experiments: one training run each.

No text is stored, only the lengths of words. A description has what was trained on, not how that was chosen, so parts
share the trainings that they have in common.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.lab import cell as lab
from reproductions.lab.cache import Result
from reproductions.lab.cell import costs, finished
from reproductions.lab.corpora import digest
from reproductions.lab.words import segmented
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import Method
from reproductions.liu_2014.partial import Partial, partial
from tagweave.learning.run import Run
from tagweave.training.cascades.incomplete import treated
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe


@dataclass(frozen=True)
class Cell(lab.Cell[Domain, Method]):
    """A method on a domain.

    Its result has `sentences` (partially annotated ones) and `marked` (words or spans in them), `labels` and `weights`
    (how many), `history` (the loss of every iteration), `seconds`; `dev` (if there is any) and `test`, of every
    sentence the lengths of its words as one string; likewise, of the baseline, `marked pages`.
    """

    def description(self) -> Result:
        """What the result depends on."""
        recipe = {name: value for name, value in self.recipe().to_json().items() if name != "threads"}
        return {
            "domain": self.data.name,
            "method": self.method.name,
            "texts": self.data.digests,
            "partial": [[digest(each.corpus), each.marked] for each in self.partial],
            "recipe": recipe,
            "iterations": self.data.schedule.iterations,
            "seed": self.seed,
        }

    def run(self) -> Result:
        """Train, and segment."""
        begin = time.perf_counter()
        fitted = finished(self._fit())
        found = {
            part: segmented(fitted.model, gold, self.threads, whole_runs=True) for part, gold in self.data.gold.items()
        }
        return {
            "sentences": sum(len(each.corpus) for each in self.partial),
            "marked": sum(each.marked for each in self.partial),
            "history": [iteration.loss for iteration in fitted.outcome.history],
            **costs(fitted, time.perf_counter() - begin),
            **found,
        }

    @cached_property
    def partial(self) -> list[Partial]:
        """The partially annotated sentences of every source of the method."""
        return [partial(self.data, source, self.seed) for source in self.method.partial]

    def recipe(self) -> Recipe:
        """That of the domain with this cell's seed."""
        recipe = self.data.recipe
        return replace(recipe, settings={**recipe.settings, "seed": self.seed}, threads=self.threads)

    def _fit(self) -> Fitted:
        run = Run(self.data.schedule, self.callback)
        harvested = (each.corpus for each in self.partial if len(each.corpus))
        corpora, recipe = treated("marginal", [self.data.train, *harvested], self.recipe(), None, run)
        return fit(corpora, recipe, None, run)


cells = lab.cells_of(Cell)
