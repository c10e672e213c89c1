"""A cell: what one training run depends on, and what is kept of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reproductions.lab.cache import Cache, Result
from reproductions.lab.run import Data, Method
from tagweave.learning.run import SILENCE, Callback
from tagweave.training.fit.problem import Fitted

AnyFitted = TypeVar("AnyFitted", bound=Any)


@dataclass(frozen=True)
class Cell(ABC, Generic[Data, Method]):
    """One training run. It keeps what its model says of texts, not scores: measures may change without training again.

    Attributes:
        data, method: from what, and how.
        seed: of all that is drawn.
        cache: where results are kept.
        threads: of the training.
        callback: is told of every iteration.
    """

    data: Data
    method: Method
    seed: int
    cache: Cache
    threads: int = 1
    callback: Callback = SILENCE

    def result(self) -> Result:
        """The result from the cache or, where it is not there, from `run`.

        Raises:
            CorpusError: a damaged file in the cache; and as `fit`.
            KeyboardInterrupt: the user stopped the training.
        """
        name = f"{getattr(self.data, 'name', '')} {self.method.name} {self.seed}"
        return self.cache.result(name, self.description(), self.run)

    @abstractmethod
    def description(self) -> Result:
        """What the result depends on."""

    @abstractmethod
    def run(self) -> Result:
        """Train, and label."""


def finished(fitted: AnyFitted) -> AnyFitted:
    """A training that came to its end.

    Raises:
        KeyboardInterrupt: the user stopped it.
    """
    fitted.outcome.check_finished()
    return fitted


def costs(fitted: Fitted, seconds: float) -> Result:
    """How many `labels` and `weights` a model has, and how many `seconds` it took."""
    sizes = {"labels": len(fitted.model.space), "weights": len(fitted.model.weights)}
    return {**sizes, "seconds": round(seconds, 2)}


def cells_of(kind: Callable[..., Cell[Data, Method]]) -> Callable[..., Callable[[Data, Method, int], Result]]:
    """As `reproductions.lab.study.Study.cells`, of cells of a class."""

    def cells(cache: Cache, threads: int, callback: Callback) -> Callable[[Data, Method, int], Result]:
        return lambda data, method, seed: kind(data, method, seed, cache, threads, callback).result()

    return cells
