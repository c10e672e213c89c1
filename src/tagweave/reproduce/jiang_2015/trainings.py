"""The trainings of one pair of corpora: what they find is kept in a cache, without text, under what they depend on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tagweave import __version__
from tagweave.adapt.fit import Fitted, fit
from tagweave.adapt.guided import fit_guided
from tagweave.adapt.predict_self import BEST, Ranking, rankings
from tagweave.adapt.recipe import Recipe
from tagweave.adapt.sequences import Labels, Sequences
from tagweave.adapt.system import Parallel, Step
from tagweave.corpus.corpus import Corpus
from tagweave.learning.loop import Schedule, Watcher
from tagweave.models.chain import ChainModel
from tagweave.models.storage import load_model, save_model
from tagweave.reproduce.cache import Cache, Result
from tagweave.reproduce.corpora import digest
from tagweave.reproduce.jiang_2015 import lines
from tagweave.reproduce.words import segmented


@dataclass(frozen=True)
class Training:
    """An ordinary or a guided model, which is trained when something is asked of it that the cache does not have.

    Attributes:
        name: for people.
        description: all that it depends on.
        fit: trains it.
        cache: where answers are kept, and the model itself if `keep` is called.
        threads: of segmenting.
    """

    name: str
    description: Result
    fit: Callable[[], Fitted]
    cache: Cache
    threads: int = 1

    def segmented(self, corpus: Corpus) -> list[str]:
        """The words that it finds in the text of a corpus, as lines."""
        found = self.cache.result(
            f"{self.name} words",
            {**self.description, "text": digest(corpus)},
            lambda: {"words": segmented(self.model, corpus, self.threads)},
        )
        return list(found["words"])

    def course(self) -> Result:
        """`labels` and `weights` (how many), `history` (the development score of every iteration) and `seconds`."""
        return self.cache.result(f"{self.name} course", self.description, lambda: self._fitted[1])

    @cached_property
    def model(self) -> ChainModel:
        """The model, from its file or from a training."""
        if self._path.exists():
            return load_model(self._path)
        self.course()  # which may have trained it
        return self._fitted[0]

    def keep(self) -> None:
        """Write the model beside the answers: others need it."""
        if not self._path.exists():
            model = self.model
            self.cache.folder.mkdir(parents=True, exist_ok=True)
            save_model(model, self._path)

    @property
    def _path(self) -> Any:
        return self.cache.path(self.name, self.description).with_suffix(".model")

    @cached_property
    def _fitted(self) -> tuple[ChainModel, Result]:
        begin = time.perf_counter()
        fitted = self.fit()
        if fitted.outcome.interrupted:
            raise KeyboardInterrupt
        history = [iteration.score for iteration in fitted.outcome.history]
        seconds = round(time.perf_counter() - begin, 2)
        model = fitted.model
        sizes = {"labels": len(model.structure.space), "weights": len(model.weights)}
        return model, {**sizes, "history": history, "seconds": seconds}


@dataclass(frozen=True)
class Side:
    """Training and development data of one guideline, and on the same text the words of the other one, as lines."""

    train: Corpus
    dev: Corpus
    guides: Sequence[str]
    dev_guides: Sequence[str]

    def description(self) -> list[str]:
        """What tells it from others."""
        return [digest(self.train), digest(self.dev), lines.digest(self.guides), lines.digest(self.dev_guides)]

    def guided(self) -> tuple[Parallel[Labels], Parallel[Labels]]:
        """Training and development data of a transfer model to this side's guideline."""
        train, dev = (lines.labels(guides) for guides in (self.guides, self.dev_guides))
        return Parallel(self.train, train), Parallel(self.dev, dev)

    def own(self) -> tuple[Parallel[Labels], Parallel[Labels]]:
        """The same text with its own words as the guides: what a transfer model to the other guideline is given."""
        train, dev = (lines.labels(lines.of_words(corpus)) for corpus in (self.train, self.dev))
        return Parallel(self.train, train), Parallel(self.dev, dev)


@dataclass(frozen=True)
class Transformed:
    """The text of one side under the other guideline.

    Attributes:
        ranked: of every sentence of the training data the candidates that some lambda may take, as lines.
        dev: the best for every sentence of the development data.
        led_back: for every sentence of the training data whether the best candidate led back.
    """

    ranked: Sequence[Ranking[str]]
    dev: Sequence[str]
    led_back: Sequence[bool]

    @classmethod
    def of(cls, found: Result) -> Transformed:
        """From what `to_json` gave."""
        return cls([Ranking(*each) for each in _as_arrays(found["ranked"])], found["dev"], found["led back"])

    def to_json(self) -> Result:
        """As JSON can hold it."""
        ranked = [[list(each.annotations), each.there.tolist(), each.back.tolist()] for each in self.ranked]
        return {"ranked": ranked, "dev": list(self.dev), "led back": list(self.led_back)}

    def best(self, share: float) -> list[str]:
        """The lines of the training data, by predict-self re-estimation of this lambda."""
        return [ranking.best(share) for ranking in self.ranked]


@dataclass(frozen=True)
class Trainings:
    """How models are trained, each once.

    Attributes:
        recipe, schedule: of every training.
        seed: of the order of sentences.
        cache: where results are kept.
        threads: of the trainings.
        watcher: is told of every iteration.
    """

    recipe: Recipe
    schedule: Schedule
    seed: int
    cache: Cache
    threads: int = 1
    watcher: Watcher | None = None

    def ordinary(self, name: str, corpora: Sequence[Corpus], dev: Corpus) -> Training:
        """A model of corpora of one guideline."""
        return self._training(
            name,
            {"corpora": [digest(corpus) for corpus in corpora], "dev": digest(dev)},
            lambda: fit(corpora, self._recipe, dev, self.schedule, self.watcher),
        )

    def guided(self, name: str, guide: Training, corpus: Corpus, dev: Corpus) -> Training:
        """Model 1: a model of the corpus that is guided by one of another guideline."""
        return self._training(
            name,
            {"corpora": [digest(corpus)], "dev": digest(dev), "guide": guide.description},
            lambda: fit_guided([corpus], guide.model, self._recipe, dev, self.schedule, self.watcher),
        )

    def both_ways(self, name: str, target: Side, source: Side) -> tuple[Transformed, Transformed]:
        """Transfer models in both directions (Algorithm 4, lines 6 to 10): the text of the target, and of the source.

        The transformed text of either side is under the guideline of the other one.
        """
        description = {**self._description, "target": target.description(), "source": source.description()}
        found = self.cache.result(name, description, lambda: self._both_ways(target, source))
        return Transformed.of(found["target"]), Transformed.of(found["source"])

    def _both_ways(self, target: Side, source: Side) -> Result:
        system = Sequences(self._recipe, self.schedule, self.watcher)
        forward, backward = (
            system.train_transfer([train], dev, Step(1, 2, "transfer model"))
            for train, dev in (target.guided(), source.guided())
        )
        return {
            "target": _transformed(system, target, backward, forward).to_json(),
            "source": _transformed(system, source, forward, backward).to_json(),
        }

    @cached_property
    def _recipe(self) -> Recipe:
        return replace(self.recipe, settings={**self.recipe.settings, "seed": self.seed}, threads=self.threads)

    @property
    def _description(self) -> Result:
        recipe = {name: value for name, value in self._recipe.to_json().items() if name != "threads"}
        stops = [self.schedule.iterations, self.schedule.patience]
        return {"version": __version__, "recipe": recipe, "schedule": stops}

    def _training(self, name: str, description: Result, fit: Callable[[], Fitted]) -> Training:
        return Training(name, {**self._description, **description}, fit, self.cache, self.threads)


def _transformed(system: Sequences, side: Side, there: Fitted, back: Fitted) -> Transformed:
    train, dev = side.own()
    ranked = rankings(system, there, back, side.train, train.guides, BEST)
    again = system.transform(back, Parallel(side.train, [each.annotations[0] for each in ranked]))
    return Transformed(
        [Ranking(lines.of_labels(each.annotations), each.there, each.back) for each in ranked],
        lines.of_labels(system.transform(there, dev)),
        [labels == own for labels, own in zip(again, train.guides, strict=True)],
    )


def _as_arrays(ranked: Any) -> Any:
    import numpy as np

    return ((each, np.array(there), np.array(back)) for each, there, back in ranked)
