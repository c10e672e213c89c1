"""The cells of the experiments: one training run each.

No text is stored, only the lengths of words. A description has what was trained on, not how that was chosen, so parts
share the trainings that they have in common.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from functools import cached_property

from reproductions.lab import cell as lab
from reproductions.lab.cache import Result
from reproductions.lab.cell import costs, finished
from reproductions.lab.corpora import digest
from reproductions.lab.words import segmented, word_counts
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import BASELINE, Method
from reproductions.liu_2014.partial import Partial, partial
from tagweave.evaluation.score import f_of_counts
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Run
from tagweave.training.fit import Fitted, fit
from tagweave.training.incomplete import treated
from tagweave.training.recipe import Recipe


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
        words = "\n".join(self.data.listed) if self.method.columns else ""
        return {
            "domain": self.data.name,
            "method": self.method.name,
            "texts": self.data.digests,
            "partial": [[digest(each.corpus), each.marked] for each in self.partial],
            "incomplete": self.method.incomplete,
            "weight": self.method.weight,
            "chosen": [each.name for each in self.method.chosen],
            "words": hashlib.sha256(words.encode()).hexdigest()[:12],
            "recipe": recipe,
            "iterations": self.data.schedule.iterations,
            "seed": self.seed,
            **({"marked pages": digest(self.data.natural.corpus)} if self._labels_pages else {}),
        }

    def run(self) -> Result:
        """Train, and segment; or take the best of several methods."""
        return self._best() if self.method.chosen else self._trained()

    def _best(self) -> Result:
        """The result of the method with the highest F on development data, and its name as `chosen`."""
        results = {each.name: replace(self, method=each).result() for each in self.method.chosen}
        gold = self.data.gold["dev"]
        scores = {name: f_of_counts(word_counts(gold, each["dev"]).sum(axis=0)) for name, each in results.items()}
        best = max(scores, key=lambda name: scores[name])
        return {**results[best], "chosen": best}

    def _trained(self) -> Result:
        begin = time.perf_counter()
        fitted = finished(self._fit())
        texts = {**self.data.gold, **({"marked pages": self.data.natural.corpus} if self._labels_pages else {})}
        found = {part: segmented(fitted.model, gold, self.threads, whole_runs=True) for part, gold in texts.items()}
        return {
            "sentences": sum(len(each.corpus) for each in self.partial),
            "marked": sum(each.marked for each in self.partial),
            "history": [iteration.loss for iteration in fitted.outcome.history],
            **costs(fitted, time.perf_counter() - begin),
            **found,
        }

    @property
    def _labels_pages(self) -> bool:
        """Whether it is asked what it makes of the pages itself, to be compared with their markup."""
        return self.method == BASELINE and len(self.data.natural.corpus) > 0

    @cached_property
    def partial(self) -> list[Partial]:
        """The partially annotated sentences of every source of the method."""
        return [partial(self.data, source, self.seed) for source in self.method.partial]

    def recipe(self) -> Recipe:
        """That of the domain with this cell's seed, and templates over the lexicon where the method has them."""
        recipe = self.data.recipe
        templates = PRESETS["liu-2014-lexicon"] if self.method.columns else recipe.templates
        settings = {**recipe.settings, "seed": self.seed}
        lookups = Lookups(words=tuple(self.data.listed) if self.method.columns else ())
        return replace(recipe, templates=templates, settings=settings, threads=self.threads, lookups=lookups)

    def _fit(self) -> Fitted:
        own = (replace(each.corpus, weight=self.method.weight) for each in self.partial if len(each.corpus))
        run = Run(self.data.schedule, self.callback)
        corpora, recipe = treated(self.method.incomplete, [self.data.train, *own], self.recipe(), None, run)
        return fit(corpora, recipe, None, run)


cells = lab.cells_of(Cell)
