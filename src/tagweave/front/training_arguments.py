"""A training from the arguments of Python: what `tw.train` takes, checked and carried out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, replace
from hashlib import sha256
from os import PathLike, fspath
from typing import Any, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import digest
from tagweave.corpus.load import check_there
from tagweave.corpus.sentence import ACCEPTED, is_frame, kind_of, lines_of
from tagweave.errors import PlanError
from tagweave.front.corpora import Given, corpus_of, paths
from tagweave.front.options import check_names
from tagweave.learning.progress import Lines
from tagweave.learning.run import Callback, Iteration, Run, callback_of
from tagweave.models.hub import model_file
from tagweave.options import declared
from tagweave.streams import say
from tagweave.structures import STRUCTURES
from tagweave.training.cascades.update import check_can_go_on
from tagweave.training.corpora import opened
from tagweave.training.job import Training
from tagweave.training.methods import METHODS, check_known
from tagweave.training.plan import LOOKUPS, FileReference, Plan, source_of, training_sources
from tagweave.training.resolve import job_of
from tagweave.training.train import train as carry_out

OPTIONS = declared(
    {"": Plan} | {method.name: method.options for method in METHODS.values()},
    leave_out=("target", "sources", "dev", "start", "task", "method"),
)


class Start(NamedTuple):
    """A model to go on from: itself, if it is in memory, and what a plan says of it."""

    model: Any
    file: FileReference


def trained(
    target: Given | Sequence[Given],
    sources: Given | Sequence[Given] = (),
    dev: Given | None = None,
    task: str | None = None,
    method: str | None = None,
    weights: Sequence[float] | None = None,
    sample: Sequence[int | str] | None = None,
    covers: Sequence[str | Sequence[str] | None] | None = None,
    start: Start | None = None,
    callback: Callable[[Iteration], object] | Callback | None = None,
    cancel: Callable[[], bool] | None = None,
    minutes: float | None = None,
    **options: Any,
) -> Training:
    """Carry out the training of `tw.train`, whose arguments these are. Raises as it."""
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
    known = 0 if start is None else len(source_corpora)
    named = tuple(training_sources(corpora, weights, sample, covers=covers, known=known))
    dev_source = None if dev is None else source_of(dev)
    start_model, start_file = start or (None, None)
    plan = Plan(named[:count], named[count:], dev_source, start_file, task, method=method, **plan_fields)
    run = Run(callback=run_callback, tell=tell).limited(minutes)
    run = run if cancel is None else replace(run, cancel=cancel)
    pairs = zip(plan.named, corpora if dev is None else [*corpora, dev], strict=True)
    sources_to_read = (corpus if isinstance(corpus, Corpus) else opened(source) for source, corpus in pairs)
    training = carry_out(job_of(plan, run, sources_to_read, start_model))
    if training.fitted.outcome.interrupted and not training.fitted.outcome.iterations:
        raise KeyboardInterrupt
    return training


def start_in_memory(name: str, model: Any) -> Start:
    """Return a model as one to go on from. Raises PlanError for a kind that cannot be gone on from."""
    check_can_go_on(model)
    return Start(model, FileReference(name, f"memory:{sha256(model.weights).hexdigest()}"))


def start_in_file(path: str) -> Start:
    """Return the model of a file as one to go on from."""
    return Start(None, FileReference(path, digest(model_file(path))))


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
    check_names("tw.train", options, list(dict.fromkeys((*(option.name for option in OPTIONS), *method_names))))
    plan_names = [field.name for field in fields(Plan)]
    values = {name: value for name, value in options.items() if name in plan_names}
    for name in LOOKUPS:
        if name in values:
            values[name] = tuple(map(FileReference, paths(values[name])))
    if "templates" in values:
        texts = values["templates"]
        values["templates"] = (texts,) if isinstance(texts, str) else tuple(lines_of(texts))
    return {**values, "options": {name: value for name, value in options.items() if name not in plan_names}}
