"""Training again: the plan of a model, on other corpora and on what people have annotated since."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.corpus.load import load, parse_argument
from tagweave.training.errors import PlanError
from tagweave.training.methods import METHODS, SINGLE
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.plan_json import read_plan


def plan_of(about: dict[str, Any]) -> TrainingPlan:
    """The plan by which a model was trained, from what it tells of itself.

    Raises:
        PlanError: it does not tell, or tells something that is no plan.
    """
    if "plan" not in about:
        raise PlanError("found a model that does not tell its plan, expected one of `tagweave train`")
    return read_plan(about["plan"])


def plan_in(path: str) -> TrainingPlan:
    """The plan in a JSON file.

    Raises:
        PlanError: not a plan.
        OSError: the file cannot be read.
    """
    try:
        return read_plan(json.loads(Path(path).read_text(encoding="utf-8")))
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from error


def plan_of_file(path: str) -> TrainingPlan:
    """The plan by which the model in a file was trained.

    Raises:
        PlanError: the model does not tell.
        ModelFileError, FileNotFoundError: as `describe_model`.
    """
    from tagweave.models.storage import describe_model

    return plan_of(describe_model(path)["about"])


def again(about: dict[str, Any], guideline: str, corpora: Sequence[str], annotated: CorpusReference) -> TrainingPlan:
    """The plan of a model, on corpora and on a partial one that comes after those of its guideline.

    It has as many iterations as that model made: no development data choose among them, unless the method needs some.
    Corpora count as those in their places did.

    Args:
        about: what the model tells of itself.
        guideline: what was annotated.
        corpora: arguments; those that name no guideline are of this one.
        annotated: of this guideline.

    Raises:
        PlanError: as `plan_of`; a method that cannot be repeated with these corpora, or a lexicon that is gone.
        CorpusError, OSError: a corpus that cannot be read.
    """
    plan = plan_of(about)
    own, others = _told_apart(corpora, guideline)
    method = METHODS[plan.method or SINGLE]
    if method.several and not others:
        found = f"found a model of the method {method.name}, and --train of {guideline} alone"
        raise PlanError(f"{found}, expected a corpus of another guideline, too: G=FILE")
    for lexicon in plan.lexicons:
        if not Path(lexicon.path).exists():
            raise PlanError(f"found no {lexicon.path}, expected the lexicon of the model, to train again with")
    plan = on_corpora(plan, [*own, annotated], others, plan.dev if method.needs_dev else None)
    if not method.several and others:  # then it is the usual method for several
        plan = replace(plan, method=None, options=None)
    return replace(plan, iterations=about.get("iterations") or plan.iterations, threads=1)


def on_corpora(
    plan: TrainingPlan,
    target: Sequence[CorpusReference],
    sources: Sequence[CorpusReference],
    dev: CorpusReference | None,
) -> TrainingPlan:
    """A plan on other corpora, which count as those in their places did."""

    def as_before(new: Sequence[CorpusReference], old: Sequence[CorpusReference]) -> tuple[CorpusReference, ...]:
        counted = [replace(to, weight=of.weight, sample=of.sample) for to, of in zip(new, old, strict=False)]
        return (*counted, *new[len(counted) :])

    return replace(plan, target=as_before(target, plan.target), sources=as_before(sources, plan.sources), dev=dev)


def exported(guideline: str, of_characters: bool, path: str) -> CorpusReference:
    """The corpus of what was annotated: words have their labels in XPOS, but under a guideline of UPOS."""
    layer = None if of_characters else UPOS if guideline == UPOS else XPOS
    return CorpusReference(path, layer=layer, guideline=guideline)


def _told_apart(corpora: Sequence[str], guideline: str) -> tuple[list[CorpusReference], list[CorpusReference]]:
    """The corpora of a guideline, under its name, and those of others."""
    own, others = [], []
    for argument in corpora:
        corpus, reference = load(argument, unnamed=guideline), CorpusReference.of(argument)
        if corpus.guideline != guideline:
            others.append(reference)
        elif parse_argument(argument).layer is None and corpus.layer == guideline == XPOS:
            own.append(replace(reference, layer=XPOS))  # not the usual layer of its format
        else:
            own.append(reference if reference.guideline else replace(reference, guideline=guideline))
    return own, others
