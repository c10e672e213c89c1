"""The cells of the experiment: one training run each, its output kept in a file so that it is never run twice.

A cell keeps what the model said of the test set, not scores: its tags. So the measures may change
without training again, and no text of a corpus is stored.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from reproductions.incomplete.settings import Method, Setting
from reproductions.lab.baselines import treated
from reproductions.lab.cache import Cache, Result
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.incomplete import discard
from tagweave.training.fit.chain_problem import dev_score, prepare
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


@dataclass(frozen=True)
class Data:
    """The three parts of a fully annotated corpus of words, and what is learnt from it.

    Attributes:
        name: where it is from, in the page.
        train, dev, test: its parts.
        schedule: the budget of every training run.
    """

    name: str
    train: Corpus
    dev: Corpus
    test: Corpus
    schedule: Schedule


@dataclass(frozen=True)
class Cell:
    """One training run.

    Attributes:
        data, setting, method: what is learnt, from what, and how.
        seed: of what is taken away, of random choices and of the order of training sentences.
        settings: of the learner.
    """

    data: Data
    setting: Setting
    method: Method
    seed: int
    settings: dict[str, float] = field(default_factory=dict)

    def description(self) -> dict[str, Any]:
        """What the result depends on."""
        data, schedule = self.data, self.data.schedule
        return {
            "data": data.name,
            "texts": [_digest(part) for part in (data.train, data.dev, data.test)],
            "budget": [schedule.iterations, schedule.patience],
            "setting": self.setting.name,
            "method": asdict(self.method),
            "seed": self.seed,
            "settings": self.settings,
        }

    def result(self, cache: Cache, threads: int = 1) -> Result:
        """The result from the cache or, where it is not there, from a run.

        Returns:
            `left`, the sentences that were trained on; and unless that is 0, `dev` (score of the chosen iteration, 0 to
            1), `iterations`, `seconds`, and `test`, a string a sentence: its tags.
        """
        name = f"tag {self.setting.name} {self.method.name} {self.seed}"
        return cache.result(name, self.description(), lambda: self.run(threads))

    def run(self, threads: int = 1) -> Result:
        """Take away, train, and label the test set. Returns as `result`."""
        begin = time.perf_counter()
        corpus = self.setting.step(self.data.train, self.seed)
        left = len(discard(corpus)) if self.method.strategy == "discard" else len(corpus)
        if not left:
            return {"left": 0}
        fitted = self._fit(corpus, threads)
        return {
            "left": left,
            "dev": fitted.outcome.score,
            "iterations": len(fitted.outcome.history),
            "seconds": round(time.perf_counter() - begin, 2),
            "test": label(fitted, self.data.test, threads),
        }

    def _fit(self, corpus: Corpus, threads: int) -> Fitted:
        method, data = self.method, self.data
        recipe = Recipe(
            Task("tag"),
            PRESETS["li-2015"],
            settings={"seed": self.seed, "batch": 16, "initial": 1e-8, **self.settings},
            threads=threads,
        )
        if method.by_name:
            corpus = by_name(corpus)
        if method.by_itself:
            first = fit_marginal(corpus, recipe, data.dev, Run(data.schedule))
            corpus = ChainPredictor(first.model, threads).complete(corpus)
        if method.strategy == "marginal":
            return fit_marginal(corpus, recipe, data.dev, Run(data.schedule), method.warm)
        run = Run(data.schedule)
        return fit(*treated(method.strategy, [corpus], recipe, data.dev, run, self.seed), data.dev, run)


def _digest(corpus: Corpus) -> str:
    digest = hashlib.sha256()
    for sentence in corpus:
        digest.update(repr((sentence.forms, sentence.layers[corpus.guideline])).encode())
    return digest.hexdigest()[:12]


def by_name(corpus: Corpus) -> Corpus:
    """The corpus with the candidates of every position in alphabetical order."""
    return corpus.map(
        lambda sentence: sentence.with_layer(
            corpus.guideline,
            (label and tuple(sorted(label)) for label in sentence.layers[corpus.guideline]),
        )
    )


def fit_marginal(corpus: Corpus, recipe: Recipe, dev: Corpus, run: Run, warm: bool = False) -> Fitted:
    """Marginal likelihood from zero weights or, if `warm`, from those of the point-wise classifier.

    The loss is not convex; tsuboi-2008 (5.1, 5.2) too begins at the optimum of a model trained on less. From there it
    goes on with smaller steps, as `fit` does where few positions have one label.
    """
    problem = prepare([corpus], recipe)
    evaluate = dev_score(problem.model, recipe.task.prepare(dev), recipe.threads)
    if warm:
        first = fit_problem(problem.pointwise() or problem, recipe, None, run, recipe.trainer(), evaluate)
        problem = replace(problem, model=replace(problem.model, weights=first.model.weights))
    trainer = recipe.trainer().fine_tuning() if warm else recipe.trainer()
    return fit_problem(problem, recipe, None, run, trainer, evaluate)


def label(fitted: Fitted, test: Corpus, threads: int = 1) -> list[str]:
    """What the model says of the test set, a string a sentence: its tags."""
    tagger = ChainPredictor(fitted.model, threads)
    labelled = tagger.tag(test.sentences)
    return [" ".join(c[0] for c in sentence.layers[tagger.guideline] if c) for sentence in labelled]
