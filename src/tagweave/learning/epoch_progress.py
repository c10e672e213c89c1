"""Progress within an epoch: an objective that reports the batches it processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.trainer import Blocks, Objective

Floats = NDArray[Any]
Report = Callable[[float], None]
"""Takes the share of the sentences processed so far."""

_EVERY = 1.0  # seconds


@dataclass
class ReportingObjective:
    """An objective that reports the batches it processes.

    Attributes:
        objective: the objective that computes.
        report: called at most once a second with the share of the sentences processed; `None`: no reports.
        before: called before every batch; an exception it raises ends the epoch.
        last: when `report` was last called.
    """

    objective: Objective
    report: Report | None
    before: Callable[[], None]
    last: float = field(default_factory=time.perf_counter)

    @property
    def size(self) -> int:
        """As `Objective`."""
        return self.objective.size

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """As `Objective`."""
        return self.objective.dtype

    @property
    def threads(self) -> int:
        """As `Objective`."""
        return self.objective.threads

    def __len__(self) -> int:
        return len(self.objective)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """As `Objective`."""
        self.before()
        return self.objective.loss_and_gradient(weights)

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """As `Objective`."""
        self.before()
        loss = self.objective.add_batch(weights, first, last, gradient)
        self._report(last)
        return loss

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """As `Objective`."""
        self.before()
        mistakes = self.objective.correct(weights, totals, first, last, batch, step)
        self._report(last)
        return mistakes

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """As `Objective`."""
        self.before()
        mistake = self.objective.mistake(weights, sentence, gradient)
        self._report(sentence + 1)
        return mistake

    def touched(self, first: int, last: int) -> Blocks:
        """As `Objective`."""
        return self.objective.touched(first, last)

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """As `Objective`."""
        return self.objective.order(seed, iteration, batch)

    def shuffled(self, order: NDArray[np.int64]) -> ReportingObjective:
        """As `Objective`."""
        return replace(self, objective=self.objective.shuffled(order))

    def _report(self, sentences: int) -> None:
        if self.report and (now := time.perf_counter()) - self.last >= _EVERY:
            self.last = now
            self.report(sentences / len(self))
