"""The method `subword`: taggers of both guidelines cut a text into pieces, which a model joins to words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagweave.training.methods.method import CHAIN, Method
from tagweave.training.options import Options, check_ranges, option

if TYPE_CHECKING:
    from tagweave.training.job import Job


@dataclass(frozen=True)
class SubwordOptions(Options):
    """Options of the method `subword`."""

    folds: int = option(10, "Taggers of so many folds label the training text that they have not seen.", "N", 2)
    retrain: bool = option(False, "Train again, on the corpora of each --source too, relabelled.")

    def __post_init__(self) -> None:
        check_ranges(self)


def _fit(job: Job[Any]) -> Any:
    from tagweave.training.chain_job import ChainJob
    from tagweave.training.subword import Stacking, fit_stack

    assert isinstance(job, ChainJob)  # noqa: S101 - see the structures of this method
    options, data = job.options(SubwordOptions), job.data
    stacking = Stacking(options.folds, characters=options.retrain, pieces=options.retrain, seed=job.plan.seed)
    return fit_stack(data.targets, data.sources, job.recipe, stacking, job.dev, job.run)


METHOD = Method("subword", "taggers cut pieces, which a model joins to words", (CHAIN,), SubwordOptions, _fit)
