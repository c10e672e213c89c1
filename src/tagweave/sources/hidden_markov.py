"""A hidden Markov model with a confusion matrix for every source, as in skweak (Lison, Barnes and Hubin 2021)."""

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
class HiddenMarkovOptions(ConfusionOptions):
    """Options of the method `hmm`."""

    smoothing: float = option(
        1.0, "Pseudo-answers of every source for every pair of a true label and an answer.", "N", 1e-9
    )
    transitions: float = option(1.0, "Pseudo-counts of every transition between true labels.", "N", 1e-9)

    def __post_init__(self) -> None:
        check_ranges(self)


def _estimate(answers: Answers, options: HiddenMarkovOptions, run: Run) -> Estimate:
    from tagweave.sources.estimate import in_turns
    from tagweave.sources.reliability import Prior
    from tagweave.sources.truth import LabelChain

    confusion = Prior.plain(len(answers.labels), options.smoothing, options.smoothing, run.known)
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, options.transitions, variational=False)
    return in_turns(answers, chain, confusion, options, run, speaks=options.silence)


METHOD = Aggregation(
    "hmm", "a confusion matrix for every source, and transitions of true labels", HiddenMarkovOptions, _estimate
)
