"""The models of the paper on one pair of corpora, step by step, so that methods share the steps they have in common.

`tagweave.training.cascades.transform` has the same steps as one loop, which looks no further than the first round that
is no better; here a round and a lambda are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from reproductions.jiang_2015.methods import Method
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.trainings import Side, Training, Trainings, Transformed
from reproductions.lab.corpora import Parts
from tagweave.training.cascades.guided import merged


class Round(NamedTuple):
    """The text of both sides as a round has transformed it."""

    target: Transformed
    source: Transformed


class Way(NamedTuple):
    """What a final model is trained on: how often the corpora are transformed, and which candidates are taken."""

    round: int
    way_back: float


@dataclass(frozen=True)
class Adaptation:
    """The models of one pair.

    Attributes:
        pair: the corpora.
        trainings: how models are trained.
    """

    pair: Pair
    trainings: Trainings
    _rounds: dict[tuple[int, float], Round] = field(default_factory=dict)

    @cached_property
    def baseline(self) -> Training:
        """Of the target corpus alone."""
        return self.trainings.ordinary("baseline", [self.pair.target.train], self.pair.target.dev)

    @cached_property
    def source(self) -> Training:
        """Of the source corpus alone; its model is kept, since all sizes of the target corpus need it."""
        training = self.trainings.ordinary("source model", [self.pair.source.train], self.pair.source.dev)
        training.keep()
        return training

    @cached_property
    def merging(self) -> Training:
        """Of both corpora as if they were of one guideline."""
        both = merged([self.pair.target.train], [self.pair.source.train])
        return self.trainings.ordinary("merging", both, self.pair.target.dev)

    @cached_property
    def guided(self) -> Training:
        """Model 1."""
        return self.trainings.guided("Model 1", self.source, self.pair.target.train, self.pair.target.dev)

    def relabelled(self, number: int) -> Training:
        """Of the target corpus and the source corpus with the probabilities of the transfer model of a round."""
        target, name = self.pair.target, f"round {number}, probabilities"
        return self.trainings.relabelled(name, self._transfer(number), target.train, self.pair.source.train, target.dev)

    def transformed(self, way: Way) -> Training:
        """Of the target corpus and the transformed source corpus: Model 2 is that of `Way(1, 0)`."""
        text, found = self.pair.source.train, self.round(*way[:2]).source
        lines, guideline = found.best(way.way_back), self.pair.target.train.guideline
        transformed = self.pair.structure.corpus(text, lines, guideline)
        name = f"round {way.round}, lambda {way.way_back:g}"
        return self.trainings.ordinary(name, [self.pair.target.train, transformed], self.pair.target.dev)

    def round(self, number: int, way_back: float) -> Round:
        """Both sides transformed so many times; of all rounds before the last one, the candidates of this lambda."""
        key = number, way_back if number > 1 else 0.0
        if key not in self._rounds:
            before = self._first() if number == 1 else self._after(self.round(number - 1, way_back), way_back)
            self._rounds[key] = Round(*self.trainings.both_ways(f"round {number}, both ways", *before))
        return self._rounds[key]

    @cached_property
    def way_back(self) -> float:
        """The lambda that is best on development data after one transformation."""
        return max(self.pair.ways_back, key=lambda share: self.dev_score(self.transformed(Way(1, share))))

    @cached_property
    def best(self) -> Way:
        """Model 3: the rounds with the best lambda, and of these the one that is best on development data."""
        ways = (Way(number, self.way_back) for number in range(1, self.pair.rounds + 1))
        return max(ways, key=lambda way: self.dev_score(self.transformed(way)))

    def way(self, method: Method) -> Way:
        """That of a method which transforms."""
        if method.kind == "best":
            return self.best
        return Way(method.round, 0.0)

    def of(self, method: Method) -> Training:
        """The training of a method."""
        named = {"baseline": "baseline", "source": "source", "merging": "merging", "guided": "guided"}
        if method.kind in named:
            training: Training = getattr(self, named[method.kind])
            return training
        if method.kind == "relabelled":
            return self.relabelled(method.round)
        return self.transformed(self.way(method))

    def dev_score(self, training: Training) -> float:
        """On development data."""
        dev = self.pair.target.dev
        return self.pair.structure.measures[""].score(dev, training.found(dev))

    def _transfer(self, number: int, way_back: float = 0.0) -> Training:
        """The transfer model to the target guideline, trained on what the rounds before have made."""
        side, _ = self._after(self.round(number - 1, way_back), way_back) if number > 1 else self._first()
        return self.trainings.transfer(f"transfer model, round {number}", side)

    def _first(self) -> tuple[Side, Side]:
        """Each side's text is annotated by the model of the other one (lines 2 to 5)."""
        return self._side(self.pair.target, self.source), self._side(self.pair.source, self.baseline)

    def _after(self, before: Round, way_back: float) -> tuple[Side, Side]:
        """What a round has transformed guides the next one (lines 9 and 10)."""
        sides = (self.pair.target, before.target), (self.pair.source, before.source)
        target, source = (
            Side(self.pair.structure, own.train, own.dev, found.best(way_back), found.dev) for own, found in sides
        )
        return target, source

    def _side(self, own: Parts, other: Training) -> Side:
        return Side(self.pair.structure, own.train, own.dev, other.found(own.train), other.found(own.dev))
