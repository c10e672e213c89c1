"""From a plan to a job: checks the plan, reads its corpora, and fills in what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, get_type_hints

from tagweave.errors import PlanError, as_plan_error, one_of
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.templates import PRESETS, USUAL, Templates
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.training.corpora import read_corpus, read_lookups, run_identity
from tagweave.training.guidelines import (
    development_data,
    left_out,
    overlap_lines,
    training_data,
    without_repeated,
)
from tagweave.training.incomplete import corpus_of
from tagweave.training.inspection import inspection
from tagweave.training.job import Job
from tagweave.training.methods import AUTO, METHODS, RACED, SINGLE, check_known, serving, typed, usual, with_option
from tagweave.training.methods.method import Options
from tagweave.training.methods.pipeline import JOINT
from tagweave.training.plan import CorpusReference, TrainingPlan
from tagweave.training.recipe import LEARNERS, Recipe, in_batches

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.learning.run import Run
    from tagweave.training.corpora import CorpusFile, TrainingData
    from tagweave.training.job import Job


_OF_NETWORKS = "adamw"


@dataclass(frozen=True)
class Corpora:
    """The loaded corpora of a plan."""

    training: Sequence[CorpusFile]
    dev: CorpusFile | None = None


def job_of(plan: TrainingPlan, run: Run, corpora: Corpora | None = None) -> Job:
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
    data = training_data(files[:own], files[own:], plan.method, *defaults)
    data = without_repeated(data, plan.task)
    dev = development_data(data, corpora.dev, files[0]) if corpora.dev else None
    references = [_reference(*pair) for pair in zip(plan.corpora, data.files, strict=True)]
    named: dict[str, Any] = {"target": tuple(references[:own]), "sources": tuple(references[own:])}
    named |= {"dev": _reference(plan.dev, dev) if plan.dev and dev else None, **lookup_files.references}
    plan = replace(_with_method(plan, data), **named)
    plan = replace(plan, ratio_corpus=corpus_of(getattr(plan.options, "entity_ratio", None)))
    _check_sample(plan, data)
    every = [*data.files, *([dev] if dev else [])]
    notes = [*data.notes, *left_out(every), *(file.note for file in every if file.note)]
    told = {number for number, each in enumerate(plan.corpora) if each.covers is not None}
    for note in [*notes, *inspection(data, dev, plan.task, plan.gaps, told), *overlap_lines(data, plan.task)]:
        run.tell(note)
    schedule = replace(run.schedule, iterations=plan.iterations, patience=plan.patience)
    job = Job(plan, data, dev.corpus if dev else None, lookup_files, replace(run, schedule=schedule))
    identity = run_identity(data.files, dev, *job.identity(), [each.covers for each in plan.corpora])
    return replace(job, run=replace(run, schedule=replace(schedule, identity=identity)))


def default_method(plan: TrainingPlan, targets: Sequence[Corpus], guidelines: int) -> str:
    """Return the default method for corpora of so many guidelines.

    Methods race for several, or for words with tags, unless TRAIN is too small or options name a method.
    """
    is_named = plan.options or any(each.sample is not None for each in plan.corpora)
    can_race = not is_named and sum(map(len, targets)) >= RACED
    if guidelines == 1:
        return AUTO if can_race and plan.task == JOINT else SINGLE
    return AUTO if can_race else usual(STRUCTURES[plan.task])


def read(plan: TrainingPlan) -> Corpora:
    """Read the corpora that a plan names."""
    training = [read_corpus(each.argument, plan.task, each.format, each.weight, each.covers) for each in plan.corpora]
    dev = plan.dev
    return Corpora(training, read_corpus(dev.argument, plan.task, dev.format, covers=dev.covers) if dev else None)


def checked(plan: TrainingPlan) -> TrainingPlan:
    """The plan with templates and options, after all checks that do not need its corpora: reading can take minutes."""
    _check_numbers(plan)
    check_known("task", plan.task, tuple(STRUCTURES))
    structure = STRUCTURES[plan.task]
    check_known("method", plan.method or SINGLE, serving(structure))
    check_known("learner", plan.learner, tuple(LEARNERS))
    plan = _with_learner(plan)
    _check_settings(plan)
    _check_structure(plan, structure)
    Recipe.of_plan(plan)
    return replace(plan, options=_options(plan), templates=templates_of(plan))


def _with_learner(plan: TrainingPlan) -> TrainingPlan:
    """Return the plan with the learner of networks if it has one."""
    if plan.folder and plan.learner not in ("adagrad", _OF_NETWORKS):
        raise PlanError(f"found a network with the learner {plan.learner}, expected {_OF_NETWORKS}")
    if not plan.folder and plan.learner == _OF_NETWORKS:
        raise PlanError(f"found the learner {_OF_NETWORKS} without a network, expected `encoder=FOLDER`")
    return replace(plan, learner=_OF_NETWORKS) if plan.folder else plan


def _check_numbers(plan: TrainingPlan) -> None:
    """Raise if a number of a plan is out of range, or is none."""
    kinds = get_type_hints(TrainingPlan)
    for field in (field for field in fields(plan) if kinds[field.name] in (int, int | None)):
        value, least = getattr(plan, field.name), field.metadata["least"]
        if (value is not None or field.default is not None) and (type(value) is not int or value < least):
            raise PlanError(f"found `{field.name}={value!r}`, expected a whole number from {least}")
    for each in plan.corpora:
        if type(each.weight) not in (int, float) or not 0 < each.weight < float("inf"):
            raise PlanError(f"found a corpus of weight {each.weight!r}, expected a positive number")
        if each.sample not in (None, "all") and (type(each.sample) is not int or each.sample < 1):
            raise PlanError(f"found sample {each.sample!r} of a corpus, expected a positive whole number or 'all'")


def _check_settings(plan: TrainingPlan) -> None:
    """Raise unless each setting of the learner is of the kind of its default, not negative and finite."""
    if not isinstance(plan.settings, Mapping):
        raise PlanError(f"found {plan.settings!r} as `settings`, expected values by name: {{'rate': 0.1}}")
    learner = LEARNERS[plan.learner]
    kinds = {field.name: field.default for field in fields(learner) if field.name != "seed"}
    for name, value in plan.settings.items():
        if name not in kinds:
            raise PlanError(f"unknown setting {name!r} of {plan.learner}, expected {one_of(name, kinds)}")
        default = kinds[name]
        if isinstance(default, bool):
            fits, expected = isinstance(value, bool), "true or false"
        else:
            is_whole = isinstance(default, int)
            least, expected = (1, "a whole number") if is_whole and name not in learner.may_be_zero else (0, "a number")
            fits = isinstance(value, int if is_whole else (int, float)) and not isinstance(value, bool)
            fits, expected = fits and least <= value < float("inf"), f"{expected} from {least}"
        if not fits and value != default:
            raise PlanError(f"found `settings={name}={value}`, expected {expected}")


def _check_structure(plan: TrainingPlan, structure: str) -> None:
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


def _options(plan: TrainingPlan) -> Options | Mapping[str, Any]:
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


def templates_of(plan: TrainingPlan) -> tuple[str, ...]:
    """Return the templates of a plan, parsed now to report a mistake before minutes of loading."""
    if STRUCTURES[plan.task] == TREE:
        with as_plan_error():
            _ = ArcTemplates(plan.templates).parsed
        return plan.templates
    if not plan.has_features:
        return ()
    if not plan.templates:
        preset = USUAL[plan.task]
        if plan.lexicons and f"{preset}-lexicon" in PRESETS:  # the lexicon of another task is refused later
            preset = f"{preset}-lexicon"
        given = {"gazetteer": plan.gazetteers, "clusters": plan.clusters}
        looked_up = (text for name, files in given.items() if files for text in PRESETS[name].texts)
        return (*PRESETS[preset].texts, *looked_up)
    chosen = Templates(plan.templates)
    chosen.check_lookups(bool(plan.lexicons), bool(plan.gazetteers), bool(plan.clusters))
    _ = chosen.families
    return plan.templates


def _with_method(plan: TrainingPlan, data: TrainingData) -> TrainingPlan:
    """Return the plan with the method of the data and all of its options."""
    method = METHODS[data.method]
    options = plan.options if isinstance(plan.options, Options) else typed(method, plan.options)
    return replace(plan, method=method.name, options=options.for_task(plan.task))


def _reference(reference: CorpusReference, file: CorpusFile) -> CorpusReference:
    corpus = file.corpus
    return replace(reference, path=corpus.path, sha256=file.sha256, size=len(corpus), guideline=file.guideline)


def _check_sample(plan: TrainingPlan, data: TrainingData) -> None:
    if all(each.sample is None for each in plan.corpora):
        return
    if not METHODS[data.method].samples:
        expected = " or ".join(each.name for each in METHODS.values() if each.samples)
        raise PlanError(f"found `sample` with the method {data.method}, expected {expected}")
    if not in_batches(plan.learner):
        expected = f"one of {', '.join(filter(in_batches, LEARNERS))}: the others see all sentences at once"
        raise PlanError(f"found `sample` with the learner {plan.learner}, expected {expected}")
