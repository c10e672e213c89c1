"""Dawid and Skene (1979): a confusion matrix for every source, and independent true labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.learning.options import check_ranges, option
from tagweave.sources.method import Aggregation, Run
from tagweave.sources.options import ConfusionOptions

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate


@dataclass(frozen=True)
class DawidSkeneOptions(ConfusionOptions):
    """Options of the method `dawid-skene`."""

    smoothing: float = option(
        1.0, "Pseudo-answers of every source for every pair of a true label and an answer.", "N", 1e-9
    )

    def __post_init__(self) -> None:
        check_ranges(self)


def _estimate(answers: Answers, options: DawidSkeneOptions, run: Run) -> Estimate:
    import numpy as np

    from tagweave.sources.estimate import in_turns
    from tagweave.sources.reliability import Prior
    from tagweave.sources.truth import IndependentLabels

    size = len(answers.labels)
    prior = np.full(size, options.smoothing)
    confusion = Prior.plain(size, options.smoothing, options.smoothing, run.known)
    return in_turns(answers, IndependentLabels(prior, prior), confusion, options, run, speaks=options.silence)


METHOD = Aggregation("dawid-skene", "a confusion matrix for every source", DawidSkeneOptions, _estimate)
