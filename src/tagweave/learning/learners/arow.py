"""Adaptive regularisation of weights, diagonal (Crammer, Kulesza, Dredze 2009; Mejer and Crammer 2010), as CRFsuite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import LARGEST, ArrayRule, Whole
from tagweave.kernels import mistakes
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.mistake_driven import MistakeDriven
from tagweave.learning.trainer import DecodingObjective, StateRules, TrainerState, state_weights

Floats = NDArray[Any]


@dataclass(frozen=True)
class AROW(MistakeDriven):
    """Adaptive regularisation of weights, the diagonal form.

    Args:
        variance: the variance of every weight at first.
        gamma: what a mistake costs less than a move: the larger, the shorter the steps.
        epsilon: converged when the mean cost of a sentence is below this; 0: when no mistake is left.
        seed: seed of the order of sentences.
    """

    epochs: ClassVar[int] = 12
    vectors: ClassVar[int] = 8
    rule_memory: ClassVar[str] = "variances"
    ranges: ClassVar[Mapping[str, str]] = {"variance": "log:0.01:10", "gamma": "log:0.1:100"}
    batch: ClassVar[int] = 1  # type: ignore[misc]  # no setting here
    variance: float = 1.0
    gamma: float = 1.0
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("variance", self.variance), ("gamma", self.gamma)):
            if not value > 0:
                raise ValueError(f"found {name}={value!r}, expected a number above 0")

    def fine_tuning(self) -> AROW:
        """With a tenth of the variance: the given weights are as certain as after many steps."""
        return replace(self, variance=0.1 * self.variance)

    def start(self, objective: DecodingObjective, weights: Floats) -> TrainerState:
        variances = np.full(objective.size, self.variance)
        return TrainerState({"weights": weights.astype(objective.dtype), "variances": variances}, {"step": 0})

    def rules(self, objective: DecodingObjective) -> StateRules:
        """As `start` makes them; variances are positive, since steps divide by them."""
        variances = ArrayRule(("float64",), (objective.size,), 1e-38, LARGEST)
        return StateRules({"weights": state_weights(objective), "variances": variances}, {"step": Whole})

    @property
    def rule(self) -> StepRule:
        return StepRule(mistakes.AROW, bound=float(self.gamma))


LEARNER = AROW
