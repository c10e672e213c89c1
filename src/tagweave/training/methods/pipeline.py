"""The method `pipeline`: a segmenter, and a tagger of its words, as one model of words with tags.

Each is trained as if it were asked for alone, by the method that suits it. A tagger of words looks at whole words, as a
model of characters cannot, and two guidelines have few enough pairs of tags for a coupled model, but too many of tagged
letters. Where tags tell where words end, a joint model is better: a race decides (`methods.auto`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tagweave.errors import CorpusError, PlanError
from tagweave.structures import CHAIN
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.training.fit.problem import Fitted


JOINT = "segtag"
"""The task that the steps share out."""
_STEPS = {"segment": "a segmenter", "tag": "a tagger of its words"}


def suits(job: Job) -> bool:
    """Return whether a job can be carried out in two steps."""
    try:
        _check(job)
    except (CorpusError, PlanError):
        return False
    return True


def _check(job: Job) -> None:
    from tagweave.training.fit.recipe import templates_of
    from tagweave.training.plan import LOOKUPS

    plan = job.plan
    if plan.task != JOINT:
        raise PlanError(f"found the task {plan.task} with the method pipeline, expected {JOINT}")
    if plan.folder:
        raise PlanError("found a network with the method pipeline, expected `encoder=features`")
    for name in LOOKUPS:
        if getattr(plan, name):
            raise PlanError(f"found `{name}` with the method pipeline, expected another method")
    if plan.templates != templates_of(replace(plan, templates=())):
        raise PlanError("found templates with the method pipeline, expected the usual ones of each step")
    for corpus in (*job.data.corpora, *([job.dev] if job.dev else [])):
        if corpus.unit != "word":
            raise CorpusError("a corpus of characters", "words, for the method pipeline", corpus.path)


def _step(job: Job, task: str) -> Job:
    """Return the job of one of the models, which has a checkpoint of its own."""
    from tagweave.training.fit.recipe import templates_of

    coding = job.plan.coding if task == "segment" else ""
    plan = replace(job.plan, task=task, coding=coding, templates=())
    plan = replace(plan, templates=templates_of(plan))
    run = job.run.part(task).phase(_STEPS[task])
    return replace(job, plan=plan, run=run, plain=None, guided=None, race={})


def _fit(job: Job) -> Fitted:
    from tagweave.models.cascades import words_first
    from tagweave.training.fit.chain_problem import dev_score
    from tagweave.training.fit.problem import Fitted

    segmenter, tagger = _STEPS
    job.run.tell(f"first {_STEPS[segmenter]}, then {_STEPS[tagger]}")
    first = job.train(_step(job, segmenter))
    first.fitted.outcome.check_finished()
    second = job.train(_step(job, tagger))
    model = words_first(first.fitted.model, second.fitted.model)
    outcome = second.fitted.outcome
    about = {**model.about, "steps": {segmenter: first.facts, tagger: second.facts}}
    if job.dev is not None:
        score = dev_score(model, job.recipe.task.prepare(job.dev), job.recipe.threads)(model.weights)
        outcome, about = replace(outcome, score=score), {**about, "dev_score": score}
    return Fitted(replace(model, about=about), outcome)


METHODS = (
    Method(
        "pipeline",
        "a segmenter, and a tagger of its words",
        (CHAIN,),
        Options,
        _fit,
        check=_check,
        several=None,
        compares=True,
    ),
)
