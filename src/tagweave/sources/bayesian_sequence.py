"""Bayesian sequence combination (Simpson and Gurevych 2019, BSC-seq), variational.

Transitions of true labels as in a hidden Markov model, and for every source a confusion matrix that depends on what it
said of the position before. All rows of probabilities have Dirichlet priors. What a source says first in a sentence, or
after a position that it did not answer, is treated as after `O`, or, where labels are not those of spans, has a matrix
of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.learning.options import check_ranges, option
from tagweave.sources.method import Aggregation, Run
from tagweave.sources.options import ConfusionOptions

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate
    from tagweave.sources.reliability import Prior

_IMPOSSIBLE = 1e-3  # share of the pseudo-answers left to an answer that cannot follow the one before


@dataclass(frozen=True)
class BayesianSequenceOptions(ConfusionOptions):
    """Options of the method `bsc`."""

    right: float = option(
        10.0, "Pseudo-answers with the true label, beside `wrong`, for every label and answer before.", "N", 0
    )
    wrong: float = option(1.0, "Pseudo-answers for every pair of a true label and an answer.", "N", 1e-9)
    transitions: float = option(1.0, "Pseudo-counts of every transition between true labels.", "N", 1e-9)

    def __post_init__(self) -> None:
        check_ranges(self)


def sequential_prior(answers: Answers, right: float, wrong: float, known: dict[str, float] | None = None) -> Prior:
    """A prior with a context for every answer before; hardly any source gives labels that cannot follow each other."""
    import numpy as np

    from tagweave.sources.reliability import Prior

    size, scheme = len(answers.labels), answers.scheme
    square = wrong + right * np.eye(size)
    if scheme.is_free:
        return Prior(np.repeat(square[None], size + 1, axis=0), size, known or {})
    possible = np.where(scheme.transition, 1.0, _IMPOSSIBLE)
    return Prior(possible[:, :, None] * square, answers.labels.index("O"), known or {})


def _estimate(answers: Answers, options: BayesianSequenceOptions, run: Run) -> Estimate:
    from tagweave.sources.estimate import in_turns
    from tagweave.sources.truth import LabelChain

    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, options.transitions, variational=True)
    confusion = sequential_prior(answers, options.right, options.wrong, dict(run.known))
    return in_turns(answers, chain, confusion, options, run, variational=True, speaks=options.silence)


METHOD = Aggregation(
    "bsc",
    "a confusion matrix that depends on the answer before, and transitions of true labels",
    BayesianSequenceOptions,
    _estimate,
)
