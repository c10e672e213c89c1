"""MACE (Hovy et al. 2013): every answer is either the true label, or a guess of a source that does not care.

    P(l | y, source k) = (1 - theta_k) [l = y] + theta_k xi_k(l)

theta_k is how often source k guesses, xi_k how it guesses. True labels are independent. In the paper they are equally
likely; where one label is frequent, as O is, guesses then explain it better than knowledge does, so by default their
proportions are estimated. Of several estimates from random values the one with the best objective is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.learning.options import check_ranges, option
from tagweave.sources.method import Aggregation, Run
from tagweave.sources.options import TurnOptions

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate


@dataclass(frozen=True)
class MaceOptions(TurnOptions):
    """Options of the method `mace`."""

    iterations: int = option(50, "How many turns at most.", "N", 1)
    restarts: int = option(3, "How many times to start from random values.", "N", 1)
    guessing: float = option(0.5, "Pseudo-answers of every source for guessing, and for not guessing.", "N", 1e-9)
    guesses: float = option(10.0, "Pseudo-guesses of every label.", "N", 1e-9)
    equal: bool = option(False, "True labels are equally likely, as in the paper.")
    point: bool = option(False, "Point estimates (EM) instead of variational inference.")

    def __post_init__(self) -> None:
        check_ranges(self)


def _estimate(answers: Answers, options: MaceOptions, run: Run) -> Estimate:
    from tagweave.sources.guessing import best_of_restarts

    return best_of_restarts(answers, options, run)


METHOD = Aggregation("mace", "every source either knows the label or guesses", MaceOptions, _estimate)
