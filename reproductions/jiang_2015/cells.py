"""The cells of the experiments: what a method finds in the text that is measured on, as lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reproductions.jiang_2015.adaptation import Adaptation
from reproductions.jiang_2015.decoding import seconds
from reproductions.jiang_2015.methods import TIMED, Method
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.trainings import Trainings
from reproductions.lab.cache import Cache, Result
from tagweave.learning.run import SILENCE, Callback, Run


@dataclass(frozen=True)
class Cell:
    """A method on the corpora of a seed.

    The steps that it shares with other methods have results of their own in the cache, so none is done twice.

    Attributes:
        pair, method: on what, and how.
        seed: of the order of sentences; the corpora are those of this seed already.
        adaptation: the steps on this pair.
    """

    pair: Pair
    method: Method
    seed: int
    adaptation: Adaptation

    def result(self) -> Result:
        """The result from the cache or, where it is not there, from a run.

        Returns:
            `dev`, `test` and `source test`, of every sentence its line; `weights` (how many), `history` (the
            development score of every iteration) and `seconds` of the last of its trainings; and if it transforms,
            `round` and `way back`, `sentences` (of the source that were used). Of the method `decoding` instead for
            every one of `TIMED` its seconds, several times, and how long the text is, by its unit.

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped a training.
        """
        cache = self.adaptation.trainings.cache
        run = self._decoding if self.method.kind == "decoding" else self._run
        return cache.result(f"{self.pair.name} {self.method.name} {self.seed}", self.description(), run)

    def description(self) -> Result:
        """What the result depends on."""
        return {
            "pair": self.pair.name,
            "method": [self.method.name, self.method.kind, self.method.round],
            "ways": [list(self.pair.ways_back), self.pair.rounds],
            "texts": self.pair.digests,
            "recipe": self.pair.structure.description(),
            "schedule": [self.pair.schedule.iterations, self.pair.schedule.patience],
            "seed": self.seed,
        }

    def _run(self) -> Result:
        training = self.adaptation.of(self.method)
        if self.method in TIMED:
            training.keep()
        found = {part: training.found(gold) for part, gold in self.pair.gold.items()}
        return {**training.course(), **self._way(), **found}

    def _way(self) -> Result:
        if self.method.kind == "relabelled":
            return {"round": self.method.round, "way back": 0.0, "sentences": len(self.pair.source.train)}
        if self.method.kind not in ("transformed", "best"):
            return {}
        way = self.adaptation.way(self.method)
        return {"round": way.round, "way back": way.way_back, "sentences": len(self.pair.source.train)}

    def _decoding(self) -> Result:
        structure, test = self.pair.structure, self.pair.target.test
        decoders = {method.name: structure.decoder(self.adaptation.of(method).model, test) for method in TIMED}
        return {"seconds": seconds(decoders), structure.unit: structure.length(test)}


@dataclass
class Cells:
    """The cells of all methods; the steps of one pair are held at a time."""

    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE
    _last: Adaptation | None = None

    def __call__(self, pair: Pair, method: Method, seed: int) -> Result:
        """The result of a method on the corpora of a seed."""
        return Cell(pair, method, seed, self._adaptation(pair, seed)).result()

    def _adaptation(self, pair: Pair, seed: int) -> Adaptation:
        last = self._last
        if last is None or last.trainings.seed != seed or last.pair is not pair:
            trainings = Trainings(pair.structure, Run(pair.schedule, self.callback), seed, self.cache, self.threads)
            self._last = last = Adaptation(pair, trainings)
        return last


def cells(cache: Cache, threads: int, callback: Callback) -> Callable[[Pair, Method, int], Result]:
    """As `reproductions.lab.study.Study.cells`."""
    return Cells(cache, threads, callback)
