"""Retraining: the plan of a model applied to other corpora and to new annotation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import XPOS
from tagweave.corpus.load import parse_argument
from tagweave.errors import PlanError
from tagweave.exchange.load import load
from tagweave.learning.run import Run
from tagweave.models.correction import with_known
from tagweave.models.storage import describe_model
from tagweave.training.corpora import OpenedSource, opened
from tagweave.training.methods import METHODS, SINGLE, read_plan, with_typed_options
from tagweave.training.model_file import save_training
from tagweave.training.plan import Options, Plan, Source, with_files
from tagweave.training.resolve import job_of
from tagweave.training.train import train


def plan_of(about: dict[str, Any]) -> Plan:
    """Return the plan that a model was trained by, from its `about`."""
    if "plan" not in about:
        raise PlanError("found a model that does not tell its plan, expected one of `tagweave train`")
    return read_plan(about["plan"])


def plan_in(path: str) -> Plan:
    """Return the plan in a JSON file."""
    try:
        return read_plan(json.loads(Path(path).read_text(encoding="utf-8")))
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from error


def like(
    path: str,
    target: Sequence[Source],
    sources: Sequence[Source],
    dev: Source | None,
    tell: Callable[[str], None] = lambda line: None,
) -> Plan:
    """Return the plan of the model in a file on other corpora. Where methods raced, they race again.

    Files that features look up are found by name and digest: in the current folder, beside the model, or beside the
    corpora.

    If the model had sources and `sources` is empty, each corpus in `target` gets the role of the file of its name, or
    else of its number; `tell` receives who became a source. Raises PlanError if neither fits.
    """
    about = describe_model(path)["about"]
    plan = plan_of(about)
    if plan.sources and target and not sources:
        target, sources = _in_roles(target, plan, tell)
    plan = _on_corpora(plan, target, sources, dev)
    if about.get("race"):
        plan = replace(plan, method=None, options=None)
    folders = [Path(path).parent, *(Path(corpus.path).parent for corpus in plan.corpora)]
    return with_typed_options(with_files(plan, folders))


def again(about: dict[str, Any], guideline: str, corpora: Sequence[str], tell: Callable[[str], None]) -> Plan:
    """Return the plan of a model on other corpora and on evidence in memory, for `train_again`.

    The evidence is the last corpus of the guideline. The plan keeps the number of iterations of the model, because no
    development data select one unless the method needs them. Each corpus takes the weight and sample of the one it
    replaces, and its covered labels unless it is the evidence. `tell` receives which options of a model of one
    guideline are left out, if there are others now.

    Raises PlanError for a model without a plan, for one of layers of spans, and for one whose method needs corpora of
    other guidelines.
    """
    plan = plan_of(about)
    if plan.overlap:
        raise PlanError("found a model of layers of spans, expected one of one layer, as the evidence is")
    targets, sources = _by_guideline(corpora, guideline, about.get("layers", {}).get(guideline, ()))
    method = METHODS[plan.method or SINGLE]
    if method.several and not sources:
        problem = f"found a model of the method {method.name}, and `train` of {guideline} alone"
        raise PlanError(f"{problem}, expected a corpus of another guideline, too: G=FILE")
    evidence = Source(guideline=guideline)
    plan = _on_corpora(plan, [*targets, evidence], sources, plan.dev if method.needs_dev else None)
    plan = replace(plan, target=(*plan.target[:-1], replace(plan.target[-1], covers=None)))
    if method.several is None:
        plan = replace(plan, method=None, options=None)
    elif method.several is False and sources:  # leave the method open: the default for several guidelines
        for name, value in plan.options.chosen().items() if isinstance(plan.options, Options) else ():
            source = sources[0].guideline or sources[0].argument
            tell(f"`{name}={value}` is left out: it is for a model of one guideline, and {source} is another one")
        plan = replace(plan, method=None, options=None)
    plan = replace(plan, iterations=about.get("iterations") or plan.iterations, threads=1)
    folders = [Path(corpus.path).parent for corpus in plan.corpora if corpus.path]
    return with_typed_options(with_files(plan, folders))


def train_again(plan: Plan, evidence: Corpus, path: Path, run: Run) -> None:
    """Train by a plan of `again` on its files and on evidence, which the model knows then (`models.correction`).

    The file appears under its name when it is complete.
    """
    evidence_number = len(plan.target) - 1
    sources: list[OpenedSource] = [
        opened(source) for number, source in enumerate(plan.named) if number != evidence_number
    ]
    sources.insert(evidence_number, evidence)
    training = train(job_of(plan, run, sources))
    model = training.fitted.model
    informed = replace(model, about=with_known(model.about, evidence))
    save_training(replace(training, fitted=replace(training.fitted, model=informed)), path)


def _in_roles(corpora: Sequence[Source], plan: Plan, tell: Callable[[str], None]) -> tuple[list[Source], list[Source]]:
    """Split corpora into targets and sources: by the names of a plan's files, or else by their order."""
    roles = [*plan.target, *plan.sources]
    names = [Path(source.path).name for source in roles]
    numbers = [names.index(name) for source in corpora if names.count(name := Path(source.path).name) == 1]
    if len(numbers) < len(corpora) or len(set(numbers)) < len(numbers):
        numbers = list(range(len(corpora)))
    target_count = len(plan.target)
    if len(corpora) not in (target_count, len(roles)) and max(numbers) >= target_count:
        roles_told = f"{', '.join(names[:target_count])} with the sources {', '.join(names[target_count:])}"
        raise PlanError(
            f"found {len(corpora)} corpora for a plan of {roles_told}, expected as many, or `sources` named"
        )
    target = [source for source, number in zip(corpora, numbers, strict=True) if number < target_count]
    sources = [source for source, number in zip(corpora, numbers, strict=True) if number >= target_count]
    if not target:
        raise PlanError(f"found only files that were sources, {', '.join(names[target_count:])}, expected TRAIN, too")
    if sources:
        paths = " and ".join(source.path for source in sources)
        tell(f"as in the plan of the model, {paths} becomes a source (`sources`)")
    else:
        left_out = ", ".join(names[target_count:])
        tell(f"the model had sources, {left_out}; this one is trained without (`sources` names some)")
    return target, sources


def _on_corpora(
    plan: Plan,
    target: Sequence[Source],
    sources: Sequence[Source],
    dev: Source | None,
) -> Plan:
    """Return a plan on other corpora, each with the weight, sample and covered labels of the one it replaces."""

    def as_before(new: Sequence[Source], old: Sequence[Source]) -> tuple[Source, ...]:
        pairs = zip(new, old, strict=False)
        counted = [
            replace(source, weight=replaced.weight, sample=replaced.sample, covers=source.covers or replaced.covers)
            for source, replaced in pairs
        ]
        return (*counted, *new[len(counted) :])

    return replace(plan, target=as_before(target, plan.target), sources=as_before(sources, plan.sources), dev=dev)


def _by_guideline(corpora: Sequence[str], guideline: str, trained: Sequence[str]) -> tuple[list[Source], list[Source]]:
    """Return the corpora of a guideline, under its name, and the others."""
    targets, sources = [], []
    for argument in corpora:
        corpus = load(argument, None, guideline, trained)
        reference = Source.of(argument)
        if corpus.guideline != guideline:
            sources.append(reference)
            continue
        if parse_argument(argument).layer is None and corpus.layer in (XPOS, *trained):
            reference = replace(reference, layer=corpus.layer)  # perhaps not the usual one of its format
        name = reference.guideline or (None if reference.layer == guideline else guideline)
        targets.append(replace(reference, guideline=name))
    return targets, sources
