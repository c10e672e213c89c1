"""Plans that go on from a model: what the model determines of them, and what it has learned after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.errors import PlanError
from tagweave.labels import SPANS
from tagweave.labels.spans import span_types
from tagweave.structures import TREE
from tagweave.training.cascades.update import check_can_go_on
from tagweave.training.corpora import LoadedSource
from tagweave.training.methods import UPDATE, read_plan
from tagweave.training.plan import Plan, with_names

_OF_UPDATES = (
    "target",
    "sources",
    "dev",
    "start",
    "task",
    "settings",
    "method",
    "options",
    "iterations",
    "patience",
    "seed",
    "average_seeds",
    "threads",
)
"""The fields of a plan that the model to go on from does not determine."""


def going_on(plan: Plan, model: Any) -> Plan:
    """Return the plan of an update, which has the task, features and precision of the model to go on from.

    Raises PlanError if the plan names others, or the model does not tell its plan.
    """
    check_can_go_on(model)
    about = model.about
    if "plan" not in about:
        raise PlanError("found a model that does not tell its plan to go on from, expected one of `tagweave train`")
    before = read_plan(about["plan"])
    plain = Plan()
    determined = (field.name for field in fields(Plan) if field.name not in _OF_UPDATES)
    chosen = [name for name in determined if getattr(plan, name) not in (getattr(plain, name), getattr(before, name))]
    if chosen:
        raise PlanError(f"found `{chosen[0]}` with `start`, expected it without: the model determines it")
    if plan.task not in (None, before.task):
        raise PlanError(f"found `task={plan.task}` with `start`, expected {before.task}, the task of the model")
    if plan.method not in (None, UPDATE):
        raise PlanError(f"found `method={plan.method}` with `start`, expected it without")
    of_update = {name: getattr(plan, name) for name in _OF_UPDATES}
    learner = before.learner if before.folder else plain.learner
    changed = {"task": before.task, "method": UPDATE, "learner": learner, "ratio_corpus": None}
    return replace(before, **{**of_update, **changed, "average_seeds": plan.average_seeds or 1})


def layers_learned(model: Any) -> tuple[str, ...]:
    """Return the guideline of a model of labels, and the layers of files that it was learned from; () for a parser."""
    if model.kind == TREE:
        return ()
    guideline = model.space.views[0].guideline
    return (guideline, *model.layers(guideline))


def under_guideline_of(model: Any, file: LoadedSource) -> LoadedSource:
    """Return a corpus under the name that a model has for its guideline."""
    guideline, *layers = layers_learned(model) or (model.guideline,)
    if file.guideline == guideline:
        return file
    if file.source.guideline is not None:
        problem = f"{file.corpus.name}: found the guideline {file.guideline!r}"
        raise PlanError(f"{problem}, expected {guideline!r}, that of the model to go on from")
    if {file.corpus.layer, *layers} == {UPOS, XPOS}:
        problem = f"{file.corpus.name}: found the layer {file.corpus.layer!r}"
        raise PlanError(f"{problem}, expected {layers[0]!r}, which the model to go on from has learned")
    return file.called(guideline)


def covering_what_is_known(model: Any, file: LoadedSource) -> LoadedSource:
    """Return text that a model learned from before, whose annotation tells nothing of types of spans that are new."""
    if model.task != SPANS or file.corpus.covered is not None:
        return file
    types = types_of_spans(model)
    return replace(file, corpus=file.corpus.covering(types), source=replace(file.source, covers=types))


def types_of_spans(model: Any) -> tuple[str, ...]:
    """Return the types of the spans of a model, sorted."""
    return tuple(sorted(set(span_types(model.space.names)) - {""}))


def after_update(plan: Plan, about: Mapping[str, Any], types: Sequence[str] | None) -> dict[str, Any]:
    """Return what a model tells of its making after an update: the plan with all corpora so far, and its updates.

    A training by that plan would learn from all of them at once. `types`: those of spans that the earlier corpora
    covered, if there are others now.
    """
    before = about["plan"]
    if types is not None:
        before = {**before, "target": [{**source, "covers": source["covers"] or types} for source in before["target"]]}
    new = with_names(plan.to_json())
    update = {name: new[name] for name in ("start", "target", "sources", "dev", "settings", "iterations", "seed")}
    return {
        "plan": {**before, "target": [*before["target"], *new["target"]], "dev": new["dev"] or before["dev"]},
        "updates": [*about.get("updates", ()), update],
    }
