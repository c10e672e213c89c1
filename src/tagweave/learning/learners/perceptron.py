"""The averaged perceptron (Collins 2002; jiang-2015, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from tagweave.kernels import mistakes
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.mistake_driven import LazilyAveraged

Floats = NDArray[Any]


@dataclass(frozen=True)
class AveragedPerceptron(LazilyAveraged):
    """The perceptron with lazily averaged weights.

    Args:
        batch: sentences per update; 1 in textbooks.
        seed: seed of the order of sentences.
        epsilon: converged when a smaller share of the sentences than this has a mistake; 0: when none has.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 7
    ranges: ClassVar[Mapping[str, str]] = {"batch": "int-log:1:32"}
    batch: int = 1
    seed: int = 0
    epsilon: float = 0.0

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.PERCEPTRON)


LEARNER = AveragedPerceptron
