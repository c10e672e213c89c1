"""The trainings of one pair of corpora: what they find is kept in a cache, without text, under what they depend on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reproductions.jiang_2015.structure import Annotation, Lines, Model, Structure
from reproductions.jiang_2015.structure import digest as digest_of_lines
from reproductions.lab.cache import Cache, Result
from reproductions.lab.cell import finished
from reproductions.lab.corpora import digest
from tagweave.corpus.corpus import Corpus
from tagweave.learning.run import Run
from tagweave.training.cascades.system import FitStep, Parallel, System
from tagweave.training.cascades.transform import BEST, CandidateRanking, rankings
from tagweave.training.fit.problem import Fitted


@dataclass(frozen=True)
class Training:
    """An ordinary or a guided model, which is trained when something is asked of it that the cache does not have.

    Attributes:
        name: for people.
        description: all that it depends on.
        structure: what is trained.
        fit: trains it.
        cache: where answers are kept, and the model itself if `keep` is called.
        threads: of decoding.
    """

    name: str
    description: Result
    structure: Structure
    fit: Callable[[], Fitted]
    cache: Cache
    threads: int = 1

    def found(self, corpus: Corpus) -> list[str]:
        """The lines that it finds in the text of a corpus."""
        key = self.structure.name
        found = self.cache.result(
            f"{self.name} {key}",
            {**self.description, "text": digest(corpus)},
            lambda: {key: self.structure.found(self.model, corpus, self.threads)},
        )
        return list(found[key])

    def relabelled(self, corpus: Corpus, guideline: str) -> Corpus:
        """A corpus as training data of the guideline to which it, a transfer model, transforms."""
        text = Parallel(corpus, self.structure.annotations(self.structure.of_corpus(corpus)))
        return self.structure.system().relabelled(self._fitted[0], text, guideline)

    def course(self) -> Result:
        """`labels` and `weights` (how many), `history` (the development score of every iteration) and `seconds`."""
        return self.cache.result(f"{self.name} course", self.description, lambda: self._fitted[1])

    @cached_property
    def model(self) -> Model:
        """The model, from its file or from a training."""
        if self._path.exists():
            return self.structure.load(self._path)
        self.course()  # which may have trained it
        return self._fitted[0].model

    def keep(self) -> None:
        """Write the model beside the answers: others need it."""
        if not self._path.exists():
            model = self.model
            self.cache.folder.mkdir(parents=True, exist_ok=True)
            self.structure.save(model, self._path)

    @property
    def _path(self) -> Any:
        return self.cache.path(self.name, self.description).with_suffix(".model")

    @cached_property
    def _fitted(self) -> tuple[Fitted, Result]:
        begin = time.perf_counter()
        fitted = finished(self.fit())
        history = [iteration.score for iteration in fitted.outcome.history]
        seconds = round(time.perf_counter() - begin, 2)
        return fitted, {**self.structure.sizes(fitted.model), "history": history, "seconds": seconds}


@dataclass(frozen=True)
class Side:
    """Training and development data of one guideline, and of the same text the lines of the other one."""

    structure: Structure
    train: Corpus
    dev: Corpus
    guides: Lines
    dev_guides: Lines

    def description(self) -> list[str]:
        """What tells it from others."""
        guides = [digest_of_lines(lines) for lines in (self.guides, self.dev_guides)]
        return [digest(self.train), digest(self.dev), *guides]

    def guided(self) -> tuple[Parallel[Annotation], Parallel[Annotation]]:
        """Training and development data of a transfer model to this side's guideline."""
        return self._parallel(self.guides, self.dev_guides)

    def own(self) -> tuple[Parallel[Annotation], Parallel[Annotation]]:
        """The same text with its own lines as the guides: what a transfer model to the other guideline is given."""
        return self._parallel(*map(self.structure.of_corpus, (self.train, self.dev)))

    def _parallel(self, guides: Lines, dev_guides: Lines) -> tuple[Parallel[Annotation], Parallel[Annotation]]:
        train, dev = map(self.structure.annotations, (guides, dev_guides))
        return Parallel(self.train, train), Parallel(self.dev, dev)


@dataclass(frozen=True)
class Transformed:
    """The text of one side under the other guideline.

    Attributes:
        ranked: of every sentence of the training data the candidates that some lambda may take, as lines.
        dev: the best for every sentence of the development data.
    """

    ranked: Sequence[CandidateRanking[str]]
    dev: Lines

    @classmethod
    def of(cls, found: Result) -> Transformed:
        """From what `to_json` gave."""
        return cls([CandidateRanking(*each) for each in _as_arrays(found["ranked"])], found["dev"])

    def to_json(self) -> Result:
        """As JSON can hold it."""
        ranked = [[list(each.annotations), each.there.tolist(), each.back.tolist()] for each in self.ranked]
        return {"ranked": ranked, "dev": list(self.dev)}

    def best(self, share: float) -> list[str]:
        """The lines of the training data, by predict-self re-estimation of this lambda."""
        return [ranking.best(share) for ranking in self.ranked]


@dataclass(frozen=True)
class Trainings:
    """How models are trained, each once.

    Attributes:
        structure, run: of every training.
        seed: of the order of sentences.
        cache: where results are kept.
        threads: of the trainings.
    """

    structure: Structure
    run: Run
    seed: int
    cache: Cache
    threads: int = 1

    def ordinary(self, name: str, corpora: Sequence[Corpus], dev: Corpus) -> Training:
        """A model of corpora of one guideline."""
        return self._training(
            name,
            {"corpora": [digest(corpus) for corpus in corpora], "dev": digest(dev)},
            lambda: self._structure.fit(corpora, dev, self.run),
        )

    def guided(self, name: str, guide: Training, corpus: Corpus, dev: Corpus) -> Training:
        """Model 1: a model of the corpus that is guided by one of another guideline."""
        return self._training(
            name,
            {"corpora": [digest(corpus)], "dev": digest(dev), "guide": guide.description},
            lambda: self._structure.fit_guided(corpus, guide.model, dev, self.run),
        )

    def transfer(self, name: str, side: Side) -> Training:
        """A transfer model to the guideline of a side."""
        return self._training(name, {"side": side.description()}, lambda: self._transfer(side))

    def relabelled(self, name: str, transfer: Training, target: Corpus, source: Corpus, dev: Corpus) -> Training:
        """A model of the target corpus and the source corpus, to which the transfer model has given probabilities."""
        return self._training(
            name,
            {"corpora": [digest(target), digest(source)], "dev": digest(dev), "transfer": transfer.description},
            lambda: self._structure.fit([target, transfer.relabelled(source, target.guideline)], dev, self.run),
        )

    def both_ways(self, name: str, target: Side, source: Side) -> tuple[Transformed, Transformed]:
        """Transfer models in both directions (Algorithm 4, lines 6 to 10): the text of the target, and of the source.

        The transformed text of either side is under the guideline of the other one.
        """
        description = {**self._description, "target": target.description(), "source": source.description()}
        found = self.cache.result(name, description, lambda: self._both_ways(target, source))
        return Transformed.of(found["target"]), Transformed.of(found["source"])

    def _both_ways(self, target: Side, source: Side) -> Result:
        system = self._structure.system(self.run)
        forward, backward = map(self._transfer, (target, source))
        return {
            "target": _transformed(system, target, backward, forward).to_json(),
            "source": _transformed(system, source, forward, backward).to_json(),
        }

    def _transfer(self, side: Side) -> Fitted:
        train, dev = side.guided()
        fitted: Fitted = self._structure.system(self.run).train_transfer([train], dev, FitStep(1, 2, "transfer model"))
        return fitted

    @cached_property
    def _structure(self) -> Structure:
        return self.structure.of_seed(self.seed, self.threads)

    @property
    def _description(self) -> Result:
        stops = [self.run.schedule.iterations, self.run.schedule.patience]
        return {"recipe": self._structure.description(), "schedule": stops}

    def _training(self, name: str, description: Result, fit: Callable[[], Fitted]) -> Training:
        description = {**self._description, **description}
        return Training(name, description, self.structure, fit, self.cache, self.threads)


def _transformed(system: System[Annotation], side: Side, there: Fitted, back: Fitted) -> Transformed:
    train, dev = side.own()
    of_annotations = side.structure.of_annotations
    ranked = rankings(system, there, back, side.train, train.guides, BEST)
    return Transformed(
        [CandidateRanking(of_annotations(each.annotations), each.there, each.back) for each in ranked],
        of_annotations(system.transform(there, dev)),
    )


def _as_arrays(ranked: Any) -> Any:
    import numpy as np

    return ((each, np.array(there), np.array(back)) for each, there, back in ranked)
