"""Passive-Aggressive learning (Crammer et al. 2006), as CRFsuite's `pa` has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from tagweave.kernels import mistakes
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.mistake_driven import LazilyAveraged
from tagweave.learning.trainer import DecodingObjective, TrainerState

Floats = NDArray[Any]


@dataclass(frozen=True)
class PassiveAggressive(LazilyAveraged):
    """Passive-Aggressive learning, with lazily averaged weights.

    Args:
        slack: 0 for PA, which separates each sentence at once, 1 for PA-I, 2 for PA-II.
        c: the aggressiveness of PA-I and PA-II: no step is longer than c, or c bounds it softly.
        error_sensitive: whether the margin to win by is the root of the number of wrong positions; otherwise it is 1.
        averaging: whether the result is the mean of the weights over all steps, or the last ones.
        epsilon: converged when the mean cost of a sentence is below this. Without averaging, training also ends when no
            mistake is left; the average still moves towards weights that make none.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    may_be_zero: ClassVar[Sequence[str]] = ("slack",)
    ranges: ClassVar[Mapping[str, str]] = {"c": "log:0.001:1"}
    batch: ClassVar[int] = 1  # type: ignore[misc]  # no setting here
    slack: int = 1
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.slack not in (0, 1, 2):
            raise ValueError(f"found slack={self.slack!r}, expected 0 (PA), 1 (PA-I) or 2 (PA-II)")
        if not self.c > 0:
            raise ValueError(f"found c={self.c!r}, expected a number above 0")

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.PASSIVE_AGGRESSIVE, self.slack, float(self.c), self.error_sensitive)

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        """As other means, with the weights before the first step, which counts as one, as CRFsuite does it."""
        state = super().start(objective, weights)
        state.numbers["step"] = 1
        return state

    def _is_settled(self, cost: float) -> bool:
        return cost == 0 and not self.averaging

    def result(self, state: TrainerState) -> Floats:
        return super().result(state) if self.averaging else state.weights


LEARNER = PassiveAggressive
