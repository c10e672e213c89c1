"""The method `subword`: taggers of both guidelines cut a text into pieces, which a model joins into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagweave.structures.kinds import CHAIN
from tagweave.training.methods.method import Method
from tagweave.training.options import Options, check_ranges, option

if TYPE_CHECKING:
    from tagweave.training.job import Job


@dataclass(frozen=True)
class SubwordOptions(Options):
    """Options of the method `subword`."""

    folds: int = option(10, "In how many folds taggers label training text that they have not seen.", "N", 2)
    retrain: bool = option(False, "Train again, with the corpora of each `sources` relabelled and added.")

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def has_folds(self) -> bool:
        """Taggers of the other folds label each fold."""
        return True


def _fit(job: Job[Any]) -> Any:
    from tagweave.training.chain_job import ChainJob
    from tagweave.training.subword import Stacking, fit_stack

    assert isinstance(job, ChainJob)  # noqa: S101 - the method supports chains alone
    options, data = job.options(SubwordOptions), job.data
    stacking = Stacking(options.folds, characters=options.retrain, pieces=options.retrain, seed=job.plan.seed)
    return fit_stack(data.targets, data.sources, job.recipe, stacking, job.dev, job.run)


METHOD = Method("subword", "taggers cut pieces, which a model joins into words", (CHAIN,), SubwordOptions, _fit)
