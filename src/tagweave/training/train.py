"""Carries out a job: decides on its method, compares the model with simpler ones, and keeps the best.

A model that learned from sources is compared with a plain one of TRAIN alone: nobody gets a worse model unaware.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import short_name
from tagweave.models.selective import costs
from tagweave.training.fit.calibration import calibrated
from tagweave.training.fit.problem import Fitted
from tagweave.training.job import Job, Training
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.plan import FileReference
from tagweave.training.race import by_default, decided
from tagweave.training.roles import taught_by_dev

_PLAIN_SHARE = 0.3
"""The share of limited time for the model to compare with."""
PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


def train(job: Job, compare: bool = True) -> Training:
    """Carry out a job, and fit the temperature of its model to development data (`fit.calibration`).

    If `compare`, a model that learned from sources is compared on the development data with one of TRAIN alone, which
    is trained first and has its own checkpoint. A method that the user named is not overruled, but a warning says that
    it did worse. Where no method is named, a race decides (`race.decided`).

    Raises:
        KeyboardInterrupt: the user stopped training before the model itself was begun.
    """
    training = _train(job, compare)
    fitted, dev = training.fitted, training.job.dev
    if not compare or job.is_trial or dev is None or fitted.outcome.interrupted or not job.run.schedule.selects:
        return training
    return _calibrated(training, [(fitted.model, dev)], job.plan.dev)


def train_step(job: Job) -> Training:
    """Carry out a job that is a step of another one, by the default method for its task."""
    return train(by_default(job))


def _train(job: Job, compare: bool) -> Training:
    begin = time.perf_counter()
    tell = job.run.tell
    job = decided(replace(job, train=train_step))
    if job.average_seeds > (job.plan.average_seeds or 1):
        seeds = f"the mean of {job.average_seeds} seeds is trained (`average_seeds` gives their number)"
        tell(f"{job.target_tokens:,} tokens are few: {seeds}")
    data, method = job.data, job.method
    method.check(job)
    if not compare or job.is_trial or method.compares or job.incomparable:
        fitted = method.fit(job)
        if compare and fitted.first is not None:
            return _taught_by_dev(job, fitted, begin)
        if compare and data.has_sources and not (job.race or job.is_trial or method.compares):
            what = "nothing tells whether the sources made the model better or worse than one of TRAIN alone"
            tell(f"{job.incomparable}: {what}")
        return Training(job, fitted, {}, time.perf_counter() - begin)
    plain_job = replace(job.alone().with_method(METHODS[SINGLE]), run=job.run.part(PLAIN).with_share(_PLAIN_SHARE))
    tell(f"first a plain model of {data.target}, of TRAIN alone, to compare with")
    plain = plain_job.method.fit(plain_job)
    plain.outcome.check_finished()
    fitted = method.fit(replace(job, plain=plain))
    seconds = time.perf_counter() - begin
    outcome = fitted.outcome
    if outcome.score is None or plain.outcome.score is None:  # interrupted in the first iteration
        return Training(job, fitted, {}, seconds)
    name = "with the sources" if method is plain_job.method else method.name
    scores = {PLAIN: plain.outcome.score, name: outcome.score}
    tell(f"on the development data: {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if outcome.score < plain.outcome.score:
        if not data.is_asked_for:
            tell(f"the plain model is kept: the sources made it worse (`method={method.name}` would keep the other)")
            plain = replace(plain, outcome=replace(plain.outcome, interrupted=outcome.interrupted))
            return Training(plain_job, plain, scores, seconds)
        tell(f"warning: the sources made the model worse; it is kept because of `method={method.name}`")
    return Training(job, fitted, scores, seconds)


def _taught_by_dev(job: Job, fitted: Fitted, begin: float) -> Training:
    """Return the training of a model that learns from development data, too, if it is better, or else this one."""
    try:
        taught = job.run.if_time(
            "models that learn from development data, too",
            lambda run: taught_by_dev(replace(job, run=run), fitted),
            None,
        )
        if taught is not None:
            training, judged = taught
            return _calibrated(training, judged, job.plan.dev) if judged else training
    except KeyboardInterrupt:
        fitted = replace(fitted, outcome=replace(fitted.outcome, interrupted=True))
    return Training(job, fitted, {}, time.perf_counter() - begin)


def _calibrated(training: Training, judged: Sequence[tuple[Any, Corpus]], dev: FileReference | None) -> Training:
    """Return the training with a model whose probabilities suit corpora that models have not seen."""
    name = short_name(dev.path) if dev else ""
    model = calibrated(training.fitted.model, judged, training.job.recipe, name)
    for line in costs(model.about["selective"]) if "selective" in model.about else ():
        training.job.run.tell(line)
    return replace(training, fitted=replace(training.fitted, model=model))
