"""The method `transform`: relabel the sources, then train on all corpora (Model 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods.method import Method
from tagweave.training.methods.stacked import StackedOptions
from tagweave.training.options import Options, option

if TYPE_CHECKING:
    from tagweave.training.job import Job

GUIDE = StackedOptions.__dataclass_fields__["guide"].metadata["help"]


@dataclass(frozen=True)
class TransformOptions(Options):
    """Options of the method `transform`."""

    guide: Literal["window", "joined"] | None = option(None, GUIDE, structure=CHAIN)


def _fit(job: Job[Any]) -> Any:
    from tagweave.training.transform import fit_transformed

    return fit_transformed(job.system, job.data.targets, job.data.sources, job.dev)


METHOD = Method("transform", "the sources are relabelled", (CHAIN, TREE), TransformOptions, _fit)
