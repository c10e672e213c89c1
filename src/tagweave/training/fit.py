"""From corpora, or from a job, to a model.

A model that learned from sources is compared with a plain one of TRAIN alone: nobody gets a worse model unaware.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.learning import loop
from tagweave.learning.run import SILENT, Run
from tagweave.learning.trainer import Trainer
from tagweave.models.chain_file import AnyEncoder
from tagweave.models.storage import save_model
from tagweave.structures import TREE
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.plan_json import with_names
from tagweave.training.problem import Fitted, Floats, Problem
from tagweave.training.recipe import Recipe

if TYPE_CHECKING:
    from tagweave.training.job import Job

PLAIN = "plain"
"""The part of a schedule that trains the plain model."""


def fit(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    lookups: Lookups = NOTHING,
) -> Fitted:
    """Fit a model to corpora that share a guideline.

    Args:
        dev: development data: the iteration with the best score on it is kept, and training stops when the score no
            longer improves.
    """
    return fit_problem(prepare(corpora, recipe, lookups=lookups), recipe, dev, run)


def prepare(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    names: Sequence[str] = (),
    encoder: AnyEncoder | None = None,
    lookups: Lookups = NOTHING,
) -> Any:
    """Return the `Problem` of corpora in the structure of the recipe."""
    problems: Any = import_module(f"tagweave.training.{recipe.structure}_problem")
    return problems.prepare(corpora, recipe, names, encoder, lookups)


def fit_problem(
    problem: Problem,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    trainer: Trainer | None = None,
    evaluate: Callable[[Floats], float] | None = None,
) -> Fitted:
    """Fit a problem that was made of corpora with the same recipe.

    If the problem has a `beginning`, its model is trained first, and the whole model is fine-tuned from its weights.
    Weights are rounded at the end, and for every score; training uses exact ones.
    """
    for line in problem.summary(recipe):
        run.tell(line)
    if dev is not None:
        evaluate = problem.dev_score(dev, recipe)
    score = evaluate and (lambda weights: evaluate(problem.kept(weights)))
    about, beginning = problem.about(recipe), None if trainer else problem.beginning
    trainer = trainer or problem.trainer(recipe)
    if beginning or recipe.ratio:
        # the share of spans drifts if weights move fast: 5 points of F on dev of CoNLL-2003 with half of its names
        trainer = trainer.fine_tuning()
    first = run.part("start").phase("start: pointwise model")
    steps: list[tuple[Problem, Trainer, Run]] = [
        (problem, trainer, run.phase("then: whole model") if beginning else run)
    ]
    if beginning and not run.schedule.can_resume:
        steps.insert(0, (beginning, beginning.trainer(recipe), first))
    weights = problem.model.weights
    for each, learner, part in steps:
        with one_blas_thread():
            outcome = loop.train(learner, each.objective, weights, part, score)
        weights = each.kept(outcome.weights)
        own = {**about, "dev_score": outcome.score, "iterations": outcome.iterations}
        fitted = each.finished(replace(each.model, weights=weights, about=own), outcome, part)
        if fitted.outcome.interrupted:
            return fitted
    if beginning:
        first.finish()
    return fitted


@dataclass(frozen=True)
class Training:
    """The result of a job."""

    job: Job
    fitted: Fitted
    scores: dict[str, float]
    seconds: float

    def about(self) -> dict[str, Any]:
        """Return how the model was made: recipe, plan and scores. Equal trainings have equal records, on any day and
        in any folder: files of the plan have names and digests alone."""
        job, model = self.job, self.fitted.model
        layers: dict[str, list[str]] = {}  # by guideline, without those that the files do not name
        for corpus in job.data.corpora:
            names = layers.setdefault(corpus.guideline, [])
            if corpus.layer not in ("", TAG, SEGMENTATION, *names):
                names.append(corpus.layer)
        return {
            **model.about,
            "plan": with_names(job.plan.to_json()),
            "layers": layers,
            **({} if job.recipe.structure == TREE else {"weights": model.parameters.weights_by_view}),
            # the mixture of weights depends on the number of workers
            **({"workers": job.shards.workers} if job.shards else {}),
            **({"dev_scores": self.scores} if self.scores else {}),
        }

    def save(self, path: Path) -> None:
        """Write the model with the record of its making, and report its score."""
        fitted, job = self.fitted, self.job
        for note in fitted.counts.notes() if fitted.counts else ():
            job.run.tell(note)
        save_model(replace(fitted.model, about=self.about()), path)
        name = "dev UAS" if job.recipe.structure == TREE else "dev"
        score = "" if fitted.outcome.score is None else f", {name} {fitted.outcome.score:.4f}"
        job.run.tell(f"{path}: {fitted.outcome.iterations} iterations{score}")


def train(job: Job, compare: bool = True) -> Training:
    """Carry out a job.

    If `compare`, a model that learned from sources is compared on the development data with one of TRAIN alone, which
    is trained first and has its own checkpoint. A method that the user named is not overruled, but a warning says that
    it did worse.

    Raises:
        CorpusError, TrainingError, MappingError, PlanError: as its method.
        KeyboardInterrupt: the user stopped training before the model itself was begun.
    """
    begin, tell, data, method = time.perf_counter(), job.run.tell, job.data, METHODS[job.method]
    method.check(job)
    if not compare or job.incomparable:
        fitted = method.fit(job)
        if compare and data.has_sources:
            what = "nothing tells whether the sources made the model better or worse than one of TRAIN alone"
            tell(f"{job.incomparable}: {what}")
        return Training(job, fitted, {}, time.perf_counter() - begin)
    alone = _alone(job)
    tell(f"first a plain model of {data.target}, of TRAIN alone, to compare with")
    plain = METHODS[alone.method].fit(alone)
    plain.outcome.check_finished()
    fitted = method.fit(replace(job, plain=plain))
    seconds, outcome = time.perf_counter() - begin, fitted.outcome
    if outcome.score is None:  # interrupted in the first iteration
        return Training(job, fitted, {}, seconds)
    scores = {
        PLAIN: plain.outcome.score,
        "with the sources" if job.method == alone.method else job.method: outcome.score,
    }
    tell(f"on the development data: {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if outcome.score < plain.outcome.score:
        if not data.is_asked_for:
            tell(f"the plain model is kept: the sources made it worse (`method={job.method}` would keep the other)")
            plain = replace(plain, outcome=replace(plain.outcome, interrupted=outcome.interrupted))
            return Training(alone, plain, scores, seconds)
        tell(f"warning: the sources made the model worse; it is kept because of `method={job.method}`")
    return Training(job, fitted, scores, seconds)


def _alone(job: Job) -> Job:
    """Return the job of a plain model of the target corpora."""
    target = tuple(replace(each, sample=None) for each in job.plan.target)
    plan = replace(job.plan, target=target, sources=(), method=SINGLE, options=METHODS[SINGLE].options())
    return replace(job, plan=plan, data=job.data.alone(SINGLE), run=job.run.part(PLAIN), balances=False)
