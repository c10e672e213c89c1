"""From a plan to a job: checks the plan, reads its corpora, and fills in what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_type_hints

from tagweave.errors import PlanError, one_of
from tagweave.learning.run import Run
from tagweave.options import value_of
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.cascades.incomplete import corpus_of
from tagweave.training.corpora import CorpusFile, read_corpus, read_lookups, run_identity
from tagweave.training.fit.recipe import LEARNERS, Recipe, in_batches, templates_of
from tagweave.training.guidelines import (
    development_data,
    left_out,
    overlap_lines,
    training_data,
    without_repeated,
)
from tagweave.training.inspection import inspection
from tagweave.training.job import Job, Method, Options
from tagweave.training.methods import METHODS, SINGLE, check_known, serving, typed, with_option
from tagweave.training.plan import Plan, Source
from tagweave.training.race import default_method

LEARNER_OF_NETWORKS = "adamw"


@dataclass(frozen=True)
class Corpora:
    """The loaded corpora of a plan."""

    training: Sequence[CorpusFile]
    dev: CorpusFile | None = None


def job_of(plan: Plan, run: Run, corpora: Corpora | None = None) -> Job:
    """Make the job of a plan.

    Args:
        plan: what to train.
        run: the run; its schedule gets the iterations and patience of the plan.
        corpora: the corpora of the plan, if they have been read already.
    """
    plan = checked(plan)
    lookup_files = read_lookups(plan)
    corpora = corpora or read(plan)
    own, files = len(plan.target), list(corpora.training)
    targets = [each.corpus for each in files[:own]]
    defaults = [default_method(plan, targets, count) for count in (2, 1)]
    data, method = training_data(files[:own], files[own:], plan.method, *defaults)
    data = without_repeated(data, plan.task)
    dev = development_data(data, method, corpora.dev, files[0]) if corpora.dev else None
    references = [_reference(*pair) for pair in zip(plan.corpora, data.files, strict=True)]
    named: dict[str, Any] = {"target": tuple(references[:own]), "sources": tuple(references[own:])}
    named |= {"dev": _reference(plan.dev, dev) if plan.dev and dev else None, **lookup_files.references}
    plan = replace(_with_method(plan, method), **named)
    plan = replace(plan, ratio_corpus=corpus_of(getattr(plan.options, "entity_ratio", None)))
    _check_sample(plan, method)
    every = [*data.files, *([dev] if dev else [])]
    notes = [*data.notes, *left_out(every), *(file.note for file in every if file.note)]
    told = {number for number, each in enumerate(plan.corpora) if each.covers is not None}
    for note in [*notes, *inspection(data, dev, plan.task, plan.gaps, told), *overlap_lines(data, method, plan.task)]:
        run.tell(note)
    schedule = replace(run.schedule, iterations=plan.iterations, patience=plan.patience)
    job = Job(plan, method, data, dev.corpus if dev else None, lookup_files, replace(run, schedule=schedule))
    identity = run_identity(data.files, dev, *job.identity(), [each.covers for each in plan.corpora])
    return replace(job, run=replace(run, schedule=replace(schedule, identity=identity)))


def read(plan: Plan) -> Corpora:
    """Read the corpora that a plan names."""
    training = [read_corpus(each.argument, plan.task, each.format, each.weight, each.covers) for each in plan.corpora]
    dev = plan.dev
    return Corpora(training, read_corpus(dev.argument, plan.task, dev.format, covers=dev.covers) if dev else None)


def checked(plan: Plan) -> Plan:
    """The plan with templates and options, after all checks that do not need its corpora: reading can take minutes."""
    check_known("task", plan.task, tuple(STRUCTURES))
    structure = STRUCTURES[plan.task]
    check_known("method", plan.method or SINGLE, serving(structure))
    check_known("learner", plan.learner, tuple(LEARNERS))
    plan = _with_learner(plan)
    _check_settings(plan)
    _check_structure(plan, structure)
    Recipe.of_plan(plan)
    return replace(plan, options=_options(plan), templates=templates_of(plan))


def _with_learner(plan: Plan) -> Plan:
    """Return the plan with the learner of networks if it has one."""
    if plan.folder and plan.learner not in ("adagrad", LEARNER_OF_NETWORKS):
        raise PlanError(f"found a network with the learner {plan.learner}, expected {LEARNER_OF_NETWORKS}")
    if not plan.folder and plan.learner == LEARNER_OF_NETWORKS:
        raise PlanError(f"found the learner {LEARNER_OF_NETWORKS} without a network, expected `encoder=FOLDER`")
    return replace(plan, learner=LEARNER_OF_NETWORKS) if plan.folder else plan


def _check_settings(plan: Plan) -> None:
    """Raise unless each setting of the learner is of the kind of its default, not negative and finite."""
    if not isinstance(plan.settings, Mapping):
        raise PlanError(f"found {plan.settings!r} as `settings`, expected values by name: {{'rate': 0.1}}")
    learner = LEARNERS[plan.learner]
    kinds = get_type_hints(learner)
    defaults = {field.name: field.default for field in fields(learner) if field.name != "seed"}
    for name, value in plan.settings.items():
        if name not in defaults:
            raise PlanError(f"unknown setting {name!r} of {plan.learner}, expected {one_of(name, defaults)}")
        least = 1 if kinds[name] is int and name not in learner.may_be_zero else 0
        if value != defaults[name]:
            value_of(f"settings={name}", value, kinds[name], least)


def _check_structure(plan: Plan, structure: str) -> None:
    """Raise if a plan sets anything that its structure does not use."""
    of_others = [each for each in fields(plan) if each.metadata.get("structure") not in (None, "", structure)]
    given = [each.name for each in of_others if getattr(plan, each.name) != each.default]
    if structure != TREE:
        if given:
            raise PlanError(f"found `{given[0]}` without the task parse, expected it with `task=parse`")
        return
    given += [name for each in plan.corpora for name in ("sample", "covers") if getattr(each, name) is not None]
    options = plan.options.chosen() if isinstance(plan.options, Options) else plan.options or {}
    of_chains = {f.name for m in METHODS.values() for f in fields(m.options) if f.metadata["structure"] == CHAIN}
    given += [name for name in options if name in of_chains or not with_option(name, TREE)]
    if given:
        raise PlanError(f"found `{given[0]}` with the task parse, expected it without: it is for tags and words")


def _options(plan: Plan) -> Options | Mapping[str, Any]:
    """Return the options of the method, or checked plain values if the method is undecided."""
    values: Options | Mapping[str, Any] = plan.options or {}
    if isinstance(values, Options):
        values.check_files()
        return values
    if plan.method:
        return _options(replace(plan, options=typed(METHODS[plan.method], values)))
    for method in METHODS.values():
        if values.keys() <= {field.name for field in fields(method.options)}:
            typed(method, values).check_files()
            break
    return values


def _with_method(plan: Plan, method: Method) -> Plan:
    """Return the plan with a method and all of its options."""
    options = plan.options if isinstance(plan.options, Options) else typed(method, plan.options)
    return replace(plan, method=method.name, options=options.for_task(plan.task))


def _reference(reference: Source, file: CorpusFile) -> Source:
    corpus = file.corpus
    return replace(reference, path=corpus.path, sha256=file.sha256, size=len(corpus), guideline=file.guideline)


def _check_sample(plan: Plan, method: Method) -> None:
    if all(each.sample is None for each in plan.corpora):
        return
    if not method.samples:
        expected = " or ".join(each.name for each in METHODS.values() if each.samples)
        raise PlanError(f"found `sample` with the method {method.name}, expected {expected}")
    if not in_batches(plan.learner):
        expected = f"one of {', '.join(filter(in_batches, LEARNERS))}: the others see all sentences at once"
        raise PlanError(f"found `sample` with the learner {plan.learner}, expected {expected}")
