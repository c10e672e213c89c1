"""The vote of the majority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.learning.options import option
from tagweave.sources.method import Aggregation, Run

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate


@dataclass(frozen=True)
class MajorityOptions:
    """Options of the method `majority`."""

    whole: bool = option(False, "Vote on whole spans: one is taken if more than half of those who answered mark it.")


def _estimate(answers: Answers, options: MajorityOptions, run: Run) -> Estimate:
    from tagweave.sources.estimate import Estimate, from_votes
    from tagweave.sources.reliability import Prior, updated
    from tagweave.sources.span_votes import whole_spans

    gamma = from_votes(answers, run.known)
    prior = Prior.plain(len(answers.labels), 0.01, 0.01, run.known)
    return Estimate(gamma, updated(answers, gamma, prior), best=whole_spans(answers) if options.whole else None)


METHOD = Aggregation("majority", "every source counts the same", MajorityOptions, _estimate)
