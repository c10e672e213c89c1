"""From a plan to a job: checks the plan, reads its corpora, and fills in what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from itertools import chain
from typing import Any, get_type_hints

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.overlapping import are_of_types
from tagweave.errors import PlanError, one_of
from tagweave.labels import SPANS
from tagweave.learning.run import Run
from tagweave.models.storage import load_model
from tagweave.options import value_of
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.cascades.incomplete import corpus_of
from tagweave.training.corpora import LookupFiles, OpenedSource, loaded, opened, read_lookups, run_identity
from tagweave.training.fit.recipe import LEARNERS, Recipe, in_batches, templates_of
from tagweave.training.fit.task import SENTENCES, guessed_task
from tagweave.training.guidelines import (
    development_data,
    left_out,
    overlap_lines,
    training_data,
    without_repeated,
)
from tagweave.training.inspection import inspection
from tagweave.training.job import Job, Method
from tagweave.training.methods import AUTO, METHODS, OVERLAP, SINGLE, check_known, serving, typed, with_option
from tagweave.training.plan import FEATURES, Options, Plan, ResolvedPlan
from tagweave.training.race import default_method
from tagweave.training.updating import covering_what_is_known, going_on, layers_learned, under_guideline_of

LEARNER_OF_NETWORKS = "adamw"


def job_of(plan: Plan, run: Run, sources: Iterable[OpenedSource] | None = None, start: Any = None) -> Job:
    """Make the job of a plan.

    Args:
        plan: what to train.
        run: the run; its schedule gets the iterations and patience of the plan.
        sources: what the corpora that the plan names are read from, if not from their files.
        start: the model that the plan goes on from, if it is not read from its file.
    """
    if plan.start is not None:
        start = start or load_model(plan.start.path)
        plan = going_on(plan, start)
    opened_sources = iter(sources or map(opened, plan.named))
    if (first := next(opened_sources, None)) is None or not plan.target:
        raise PlanError("found a plan without a training corpus, expected one as `target`")
    if plan.overlap and plan.method not in (None, OVERLAP):
        raise PlanError(f"found `overlap` with the method {plan.method}, expected {OVERLAP}")
    plan = replace(plan, method=OVERLAP) if plan.overlap else plan
    resolved = checked(plan, plan.task or _task_of(first, run))
    if start is None:
        lookup_files = read_lookups(resolved)
    else:  # the model has what features look up
        lookup_files = LookupFiles(start.lookups, plan.lexicons, plan.gazetteers, plan.clusters)
    pairs = zip(plan.named, chain([first], opened_sources), strict=True)
    learned = () if start is None else layers_learned(start)
    files = [loaded(source, opened_source, resolved.task, learned) for source, opened_source in pairs]
    if start is not None:
        files = [under_guideline_of(start, file) for file in files]
        replayed = range(len(plan.target), len(plan.corpora))
        files = [covering_what_is_known(start, file) if at in replayed else file for at, file in enumerate(files)]
    dev_file = files.pop() if plan.dev else None
    count = len(plan.target)
    targets = [file.corpus for file in files[:count]]
    if not (plan.overlap or plan.method) and resolved.task == SPANS and are_of_types(targets):
        run.tell(f"layers of spans overlap, so the method is {OVERLAP} (FILE#LAYER takes one layer)")
        plan = replace(plan, method=OVERLAP)
    can_race = not (plan.options or _samples(plan))
    defaults = [default_method(resolved.task, targets, guidelines, can_race) for guidelines in (2, 1)]
    data, method = training_data(files[:count], files[count:], plan.method, *defaults)
    data = data if method.name == OVERLAP else without_repeated(data, resolved.task)
    dev = development_data(data, method, dev_file, files[0]) if dev_file else None
    options = plan.options if isinstance(plan.options, Options) else typed(method, plan.options or {})
    read_sources = [file.resolved for file in data.files]
    resolved = replace(
        resolved,
        method=method.name,
        overlap=method.name == OVERLAP,
        options=options.for_task(resolved.task),
        target=tuple(read_sources[:count]),
        sources=tuple(read_sources[count:]),
        dev=dev.resolved if dev else None,
        ratio_corpus=corpus_of(getattr(options, "entity_ratio", None)),
        lexicons=lookup_files.lexicons,
        gazetteers=lookup_files.gazetteers,
        clusters=lookup_files.clusters,
    )
    _check_sample(resolved, method)
    if (vectors := lookup_files.lookups.vectors) is not None:
        run.tell(f"{plan.vectors}: {vectors.coverage(form for corpus in targets for s in corpus for form in s.forms)}")
    all_files = [*data.files, *([dev] if dev else [])]
    if plan.stored_vectors == "corpora":
        lookup_files = lookup_files.with_vectors_of(file.corpus for file in all_files)
    notes = [*data.notes, *left_out(all_files), *(file.note for file in all_files if file.note)]
    covered_numbers = {number for number, source in enumerate(resolved.corpora) if source.covers is not None}
    task = resolved.task
    for note in [
        *notes,
        *inspection(data, dev, task, resolved.gaps, covered_numbers, () if start is None else start.label_names),
        *overlap_lines(data, method, task),
    ]:
        run.tell(note)
    schedule = replace(run.schedule, iterations=plan.iterations, patience=plan.patience)
    run = replace(run, schedule=schedule)
    job = Job(resolved, method, data, dev.corpus if dev else None, lookup_files, run, start=start)
    identity = run_identity(data.files, dev, *job.identity(), [source.covers for source in resolved.corpora])
    return replace(job, run=replace(run, schedule=replace(schedule, identity=identity)))


def resolve(plan: Plan, tell: Callable[[str], None]) -> ResolvedPlan:
    """Fill in a plan: the task, digests of its files, the method, and its options.

    Raises PlanError, CorpusError, OSError.
    """
    return job_of(plan, Run(tell=tell)).plan


def _task_of(source: OpenedSource, run: Run) -> str:
    return guessed_task(source if isinstance(source, Corpus) else source.corpus(limit=SENTENCES), run.tell)


def _samples(plan: Plan) -> bool:
    return any(source.sample is not None for source in plan.corpora)


def checked(plan: Plan, task: str) -> ResolvedPlan:
    """Return the plan with its templates and options, after all checks that need no corpus: reading can take minutes.

    A method that the corpora decide is `auto`.
    """
    check_known("task", task, tuple(STRUCTURES))
    structure = STRUCTURES[task]
    check_known("method", plan.method or SINGLE, serving(structure))
    check_known("learner", plan.learner, tuple(LEARNERS))
    plan = _with_learner(plan)
    _check_settings(plan)
    _check_structure(plan, structure)
    options = _options(plan)
    values = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    resolved = ResolvedPlan(**{**values, "task": task, "method": plan.method or AUTO, "options": options})
    Recipe.of_plan(resolved)
    return replace(resolved, templates=templates_of(resolved))


def _with_learner(plan: Plan) -> Plan:
    """Return the plan with the learner of networks if it has one."""
    if plan.encoder != FEATURES and not (plan.vectors or plan.folder):
        expected = "a file of word vectors, static:FILE, or the folder of a network"
        raise PlanError(f"found {plan.encoder!r} as `encoder`, expected {expected}")
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
    foreign_fields = [field for field in fields(plan) if field.metadata.get("structure") not in (None, "", structure)]
    unused = [field.name for field in foreign_fields if getattr(plan, field.name) != field.default]
    if structure != TREE:
        if unused:
            raise PlanError(f"found `{unused[0]}` without the task parse, expected it with `task=parse`")
        return
    if plan.folder or not plan.has_features:
        raise PlanError(f"found `encoder={plan.encoder}` with the task parse, expected features or static:FILE")
    if plan.vectors and plan.clusters:
        raise PlanError("found word vectors and `clusters` with the task parse, which takes clusters of one of them")
    unused += [name for source in plan.corpora for name in ("sample", "covers") if getattr(source, name) is not None]
    options = plan.options.chosen() if isinstance(plan.options, Options) else plan.options or {}
    chain_options = {f.name for m in METHODS.values() for f in fields(m.options) if f.metadata["structure"] == CHAIN}
    unused += [name for name in options if name in chain_options or not with_option(name, TREE)]
    if unused:
        raise PlanError(f"found `{unused[0]}` with the task parse, expected it without: it is for tags and words")


def _options(plan: Plan) -> Options:
    """Return the options of the method, after a check of plain values if the method is undecided."""
    values = plan.options or {}
    if isinstance(values, Options):
        options = values
    elif plan.method:
        options = typed(METHODS[plan.method], values)
    else:
        names = values.keys()
        suited = (m for m in METHODS.values() if names <= {field.name for field in fields(m.options)})
        options = next((typed(method, values) for method in suited), Options())
    options.check_files()
    return options


def _check_sample(plan: Plan, method: Method) -> None:
    if not _samples(plan):
        return
    if not method.samples:
        expected = " or ".join(other.name for other in METHODS.values() if other.samples)
        raise PlanError(f"found `sample` with the method {method.name}, expected {expected}")
    if not in_batches(plan.learner):
        expected = f"one of {', '.join(filter(in_batches, LEARNERS))}: the others see all sentences at once"
        raise PlanError(f"found `sample` with the learner {plan.learner}, expected {expected}")
