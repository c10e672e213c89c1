"""The cells of the experiments: one training run each, kept as what its model says of C2.

No text of a corpus is stored: of every sentence the lengths of its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from reproductions.lab.cache import Cache, Result
from reproductions.lab.words import segmented
from reproductions.tsuboi_2008.domain import Domain
from reproductions.tsuboi_2008.methods import Method
from reproductions.tsuboi_2008.trial import Trial
from tagweave.learning.run import SILENCE, Callback


@dataclass
class Cells:
    """The results of methods on domains, from a cache or from a training.

    Attributes:
        cache: where results are kept.
        threads: of every training.
        callback: is told of every iteration.
    """

    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE
    _trial: Trial | None = field(default=None, repr=False)  # the last: many cells have one model of A and one ranking

    def result(self, domain: Domain, method: Method, seed: int) -> Result:
        """The result of a method from the cache or, where it is not there, from a run. Returns and raises as `run`."""
        name = f"{domain.name} {method.name} {seed}"
        return self.cache.result(name, description(domain, method, seed), lambda: self.run(domain, method, seed))

    def run(self, domain: Domain, method: Method, seed: int) -> Result:
        """Train, and segment C2.

        Returns:
            `score` (F on B of the chosen iteration, 0 to 1), `iterations` and `weights` (how many), `questions` (asked)
            and `words` (marked), `seconds`; `test`, of every sentence of C2 the lengths of its words as one string.

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped the training.
        """
        trial, begin = self._of(domain, seed), time.perf_counter()
        questions, words = trial.questions(method)
        model = trial.model(method)
        return {
            "score": model.about["dev_score"],
            "iterations": model.about["iterations"],
            "weights": len(model.weights),
            "questions": questions,
            "words": words,
            "seconds": round(time.perf_counter() - begin, 2),
            "test": segmented(model, domain.test, self.threads),
        }

    def _of(self, domain: Domain, seed: int) -> Trial:
        if self._trial is None or self._trial.domain is not domain or self._trial.seed != seed:
            self._trial = Trial(domain, seed, self.threads, self.callback)
        return self._trial


def cells(cache: Cache, threads: int, callback: Callback) -> Callable[[Domain, Method, int], Result]:
    """As `reproductions.lab.study.Study.cells`."""
    return Cells(cache, threads, callback).result


def description(domain: Domain, method: Method, seed: int) -> Result:
    """What a result depends on."""
    return {
        "domain": domain.name,
        "texts": domain.digests,
        "budget": [domain.schedule.iterations, domain.schedule.patience],
        "method": asdict(method),
        "seed": seed,
    }
