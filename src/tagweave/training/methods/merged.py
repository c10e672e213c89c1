"""The method `merged`: treat corpora of several guidelines as if they had been annotated under one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods.method import Method
from tagweave.training.options import Options

if TYPE_CHECKING:
    from tagweave.training.job import Job


class MergedOptions(Options):
    """The method `merged` has no options."""


def _fit(job: Job[Any]) -> Any:
    from tagweave.training.chain_job import ChainJob
    from tagweave.training.guided import merged

    corpora = merged(job.data.targets, job.data.sources)
    if not isinstance(job, ChainJob):
        return job.fit(corpora)
    target, originals, sample = job.data.target, job.data.corpora, job.recipe.sample
    order = sorted(range(len(originals)), key=lambda at: originals[at].guideline != target)  # the order of `merged`
    return job.fit(corpora, replace(job.recipe, sample=tuple(sample[at] for at in order if sample)))


METHOD = Method(
    "merged",
    "all corpora as if they were of one guideline",
    (CHAIN, TREE),
    MergedOptions,
    _fit,
    samples=True,
    balances=True,
    has_lookups=True,
)
