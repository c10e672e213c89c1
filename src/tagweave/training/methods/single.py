"""The method `single`: one model of corpora of one guideline; incomplete annotation stays incomplete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods.method import Method
from tagweave.training.options import Options, option
from tagweave.training.strategies import Strategy

if TYPE_CHECKING:
    from tagweave.training.job import Job


@dataclass(frozen=True)
class SingleOptions(Options):
    """Options of the method `single`."""

    incomplete: Strategy = option(
        "marginal",
        "How to treat incomplete annotation: marginal sums over all that it allows; the others are baselines.",
        "STRATEGY",
        structure=CHAIN,
    )


def _fit(job: Job[Any]) -> Any:
    strategy = job.options(SingleOptions).incomplete
    if strategy == "marginal":
        return job.fit(job.data.corpora)
    from tagweave.training.chain_job import ChainJob
    from tagweave.training.incomplete import treated

    assert isinstance(job, ChainJob)  # noqa: S101 - trees have only the strategy `marginal`
    lookups, plan = job.lookup_files.lookups, job.plan
    corpora, recipe = treated(strategy, job.data.corpora, job.recipe, job.dev, job.run, plan.seed, lookups)
    return job.fit(corpora, recipe)


METHOD = Method(
    "single",
    "one model of corpora of one guideline",
    (CHAIN, TREE),
    SingleOptions,
    _fit,
    samples=True,
    has_lookups=True,
    several=False,
)
