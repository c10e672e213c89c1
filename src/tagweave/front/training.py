"""Train from Python as the command line does, resolve and carry out plans, and tune them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, replace
from hashlib import sha256
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import digest
from tagweave.corpus.load import check_there
from tagweave.corpus.sentence import ACCEPTED, is_frame, kind_of, lines_of
from tagweave.errors import PlanError
from tagweave.front.corpora import Given, corpus_of, paths
from tagweave.front.loading import of_training
from tagweave.front.model import Model
from tagweave.front.options import check_names
from tagweave.learning.progress import Lines
from tagweave.learning.run import Callback, Iteration, Run, callback_of
from tagweave.models.hub import model_file
from tagweave.options import declared, taking
from tagweave.streams import Tell, say
from tagweave.structures import STRUCTURES
from tagweave.training.corpora import opened
from tagweave.training.methods import METHODS, check_known, read_plan
from tagweave.training.plan import LOOKUPS, FileReference, Plan, source_of, training_sources
from tagweave.training.resolve import job_of
from tagweave.training.retraining import plan_in
from tagweave.training.train import train as carry_out

if TYPE_CHECKING:
    from tagweave.tuning.search import Tuning

_OPTIONS = declared(
    {"": Plan} | {method.name: method.options for method in METHODS.values()},
    leave_out=("target", "sources", "dev", "start", "task", "method"),
)


@taking(_OPTIONS)
def train(
    target: Given | Sequence[Given],
    sources: Given | Sequence[Given] = (),
    dev: Given | None = None,
    task: str | None = None,
    method: str | None = None,
    weights: Sequence[float] | None = None,
    sample: Sequence[int | str] | None = None,
    covers: Sequence[str | Sequence[str] | None] | None = None,
    start: Model | str | PathLike[str] | None = None,
    callback: Callable[[Iteration], object] | Callback | None = None,
    cancel: Callable[[], bool] | None = None,
    minutes: float | None = None,
    **options: Any,
) -> Model:
    """Train a model: bit for bit the one that `tagweave train` makes from the same corpora and options.

    Args:
        target: the corpus of the guideline to learn: a corpus, what `Corpus` takes, or a file argument; or a list of
            corpora and file arguments.
        sources: corpora of other guidelines, or more of the target's.
        dev: the corpus that selects the best iteration. With it, a model that learned from sources is compared with
            one of the target alone, and the better one is returned.
        task: `tag` (words), `segment`, `segtag` (both), `spans` (entities, phrases) or `parse` (trees); by default
            `tag`, or `spans` if the labels of the first corpus are like `B-PER I-PER O`.
        method: how to combine corpora; with sources of another guideline, and for the task `segtag`, a race decides by
            default (`auto`), else it is `single`.
        weights: how often a sentence of each corpus counts, the target's first.
        sample: how many sentences of each corpus an iteration visits, or `"all"`.
        covers: the labels or types that were annotated in each corpus, as `PER,LOC` or a list, or `"all"`: `O` excludes
            only these; `None`: as the corpus tells.
        start: a model to go on from, or its file: it learns from the target, and keeps what it knows; `sources` are
            then text that it learned from before, of which a sample joins. Wherever the annotation is silent, what the
            model believes is evidence.
        callback: a function that is called with every finished `Iteration`, or a `Callback`; by default lines go to
            standard error. With a callback, warnings about the corpora are Python's.
        cancel: is called before every batch of sentences; when it returns true, training ends as after an interrupt.
        minutes: the time there is: the best model so far is kept at its end, and what is left out is told.
        options: fields of `Plan`, and options of the method.

    Raises:
        PlanError: unknown values, or values that do not go together.
        CorpusError: corpora that do not suit the plan.
        TypeError: an unknown option, or something that is not a corpus.
        KeyboardInterrupt: the user stopped training before there was a model.
    """

    targets = several(target)
    source_corpora = several(sources)
    dev = None if dev is None else _source(dev)
    if not targets:
        raise PlanError(f"found no corpus, expected one: {ACCEPTED}, or the path of a file")
    if cancel is not None and not callable(cancel):
        raise TypeError(f"found {kind_of(cancel)} as cancel, expected a function that returns whether to stop")
    if task is not None:
        check_known("task", task, tuple(STRUCTURES))
    if method is not None:
        check_known("method", method, tuple(METHODS))
    check_there(*(corpus for corpus in (*targets, *source_corpora, dev) if isinstance(corpus, str)))
    plan_fields = _fields(options)

    run_callback, tell = (Lines(sys.stderr), say) if callback is None else (callback_of(callback), _warn)
    corpora = [*targets, *source_corpora]
    count = len(targets)
    named = tuple(training_sources(corpora, weights, sample, covers=covers))
    dev_source = None if dev is None else source_of(dev)
    start_model, start_file = _start(start)
    plan = Plan(named[:count], named[count:], dev_source, start_file, task, method=method, **plan_fields)
    run = Run(callback=run_callback, tell=tell).limited(minutes)
    run = run if cancel is None else replace(run, cancel=cancel)
    pairs = zip(plan.named, corpora if dev is None else [*corpora, dev], strict=True)
    sources_to_read = (corpus if isinstance(corpus, Corpus) else opened(source) for source, corpus in pairs)
    training = carry_out(job_of(plan, run, sources_to_read, start_model))
    if training.fitted.outcome.interrupted and not training.fitted.outcome.iterations:
        raise KeyboardInterrupt
    return of_training(training)


def _start(start: Model | str | PathLike[str] | None) -> tuple[Any, FileReference | None]:
    """Return the model to go on from, if it is in memory, and what a plan says of it."""
    if start is None:
        return None, None
    if isinstance(start, Model):
        return start.trained, FileReference(start.name, f"memory:{sha256(start.trained.weights).hexdigest()}")
    path = fspath(start)
    return None, FileReference(path, digest(model_file(path)))


def _warn(line: str) -> None:
    """Pass warnings on to Python; the callback of the user replaces all other lines."""
    if line.startswith("warning: "):
        warnings.warn(line.removeprefix("warning: "), stacklevel=2)


def several(data: Given | Sequence[Given]) -> list[Corpus | str]:
    """Return one corpus, or several, which are corpora, file arguments and data frames."""
    is_one = isinstance(data, (Corpus, str, PathLike, Mapping, Set)) or is_frame(data)
    if not is_one and isinstance(data, Iterable):
        members = list(data)
        if all(isinstance(member, (Corpus, str, PathLike)) or is_frame(member) for member in members):
            return [_source(member) for member in members]
        data = members
    return [_source(data)]


def _source(data: Given) -> Corpus | str:
    is_path = isinstance(data, PathLike) or (isinstance(data, str) and "\n" not in data)
    return fspath(data) if is_path else corpus_of(data)  # type: ignore[arg-type]


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as fields of a plan, with the method's own in `options`."""
    # a program may have added methods since the import
    method_names = (field.name for method in METHODS.values() for field in fields(method.options))
    check_names("tw.train", options, list(dict.fromkeys((*(option.name for option in _OPTIONS), *method_names))))
    plan_names = [field.name for field in fields(Plan)]
    values = {name: value for name, value in options.items() if name in plan_names}
    for name in LOOKUPS:
        if name in values:
            values[name] = tuple(map(FileReference, paths(values[name])))
    if "templates" in values:
        texts = values["templates"]
        values["templates"] = (texts,) if isinstance(texts, str) else tuple(lines_of(texts))
    return {**values, "options": {name: value for name, value in options.items() if name not in plan_names}}


def tune(
    plan: Plan | Mapping[str, Any] | str | PathLike[str],
    search: Mapping[str, Any] | None = None,
    trials: int = 40,
    seeds: int = 2,
    storage: str | PathLike[str] | None = None,
    timeout: float | None = None,
    tell: Tell = say,
) -> Tuning:
    """Search for values of a plan that reach a higher score: `tagweave tune` in Python.

    Args:
        plan: the plan, its JSON, or the file of that. Its development data judge the trials; without any, five folds
            of TRAIN do. Where neither it nor the search names methods, or sources, those that race do so once, before
            the trials.
        search: ranges by the names of fields of the plan, of settings of its learner and of options of its method:
            texts such as `"log:0.01:1"`, also `float`, `int`, `int-log` and `choice`, or distributions of Optuna. By
            default those that suit the learner and the method.
        trials: how many trials the storage is to have, with those it has already. The plan itself is the first.
        seeds: with how many other seeds the plan and the three best trials are trained at the end, to choose among
            them; 0 for none.
        storage: where trials are kept, so that another call continues, and processes and machines share them: a file
            (SQLite), or the URL of a database; by default in memory.
        timeout: seconds after which no other trial begins.
        tell: receives a line for every trial, and notes.

    Raises:
        PlanError: unknown names, ranges that the plan cannot have, a storage that cannot be opened, no Optuna.
        CorpusError, OSError: a file that cannot be read.
    """
    try:
        from tagweave.tuning.search import search as carry_out
    except ImportError as error:
        expected = "the extra tune: pip install '.[tune]' in a checkout of tagweave"
        raise PlanError(f"found no {error.name}, expected {expected}") from error
    kept = None if storage is None else fspath(storage)
    return carry_out(_plan(plan), search or {}, trials, seeds, kept, timeout, tell)


def _plan(plan: Plan | Mapping[str, Any] | str | PathLike[str]) -> Plan:
    if isinstance(plan, Plan):
        return plan
    return plan_in(fspath(plan)) if isinstance(plan, str | PathLike) else read_plan(plan)
