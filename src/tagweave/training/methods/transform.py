"""The method `transform`: relabel the sources, then train on all corpora (Model 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods.method import Method
from tagweave.training.methods.stacked import StackedOptions
from tagweave.training.options import Options, check_ranges, option

if TYPE_CHECKING:
    from tagweave.training.job import Job

_OF_TREES = 2
"""Rounds for parsers: better than one on all development sets, for trees of newspapers, the web and Wikipedia."""

GUIDE = StackedOptions.__dataclass_fields__["guide"].metadata["help"]


@dataclass(frozen=True)
class TransformOptions(Options):
    """Options of the method `transform`."""

    guide: Literal["window", "joined"] | None = option(None, GUIDE, structure=CHAIN)
    rounds: int | None = option(
        None,
        "How many rounds to predict the guiding labels of the transfer model's training data. Default: 2 for parsers,"
        " else 1.",
        "N",
        1,
    )

    def __post_init__(self) -> None:
        check_ranges(self)

    def for_task(self, task: str) -> Self:
        """See `Options.for_task`."""
        return replace(self, rounds=_OF_TREES if task == "parse" else 1) if self.rounds is None else self


def _fit(job: Job[Any]) -> Any:
    from tagweave.training.transform import fit_transformed

    data, rounds = job.data, job.options(TransformOptions).rounds
    return fit_transformed(job.system, data.targets, data.sources, job.dev, rounds=rounds or 1)


METHOD = Method("transform", "the sources are relabelled", (CHAIN, TREE), TransformOptions, _fit)
