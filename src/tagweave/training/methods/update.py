"""The method `update`: a model goes on from another one, on new corpora."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tagweave.errors import PlanError
from tagweave.structures import KINDS
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.training.fit.problem import Fitted


def _check(job: Job) -> None:
    if job.start is None:
        raise PlanError("found `method=update` without a model to go on from, expected `start`")


def _fit(job: Job) -> Fitted:
    from tagweave.training.cascades.update import updated

    targets = job.data.corpora[: job.data.train_count]
    tokens = sum(corpus.tokens() for corpus in targets)
    replayed = [_sample(job, corpus, tokens) for corpus in job.data.corpora[job.data.train_count :]]
    fitted = updated(job.start, [*targets, *replayed], job.recipe, job.dev, job.run, job.plan.seed)
    if job.dev is None and "calibration" in job.start.about:
        about = {**fitted.model.about, "calibration": job.start.about["calibration"]}
        return replace(fitted, model=replace(fitted.model, about=about))
    return fitted


def _sample(job: Job, corpus: Corpus, tokens: int) -> Corpus:
    """Return sentences of text that the model learned from before, at random, with about so many tokens."""
    import numpy as np

    order = np.random.default_rng(job.plan.seed).permutation(len(corpus))
    lengths = np.cumsum([len(corpus.sentences[at]) for at in order])
    chosen = np.sort(order[: int(np.searchsorted(lengths, tokens)) + 1])
    sample = corpus.with_sentences(corpus.sentences[at] for at in chosen)
    job.run.tell(f"{corpus.name}: {len(sample):,} of {len(corpus):,} sentences join, of text that is known already")
    return sample


METHODS = (
    Method(
        "update",
        "goes on from a model (`start`), on new corpora of its guideline",
        KINDS,
        Options,
        _fit,
        _check,
        several=False,
        compares=True,
    ),
)
