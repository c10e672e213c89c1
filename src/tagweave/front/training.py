"""Training from Python, exactly as the command line does it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.front.loading import of_training
from tagweave.front.model import Model
from tagweave.streams.notes import say
from tagweave.training.errors import PlanError
from tagweave.training.plan import CorpusReference, FileReference, TrainingPlan

if TYPE_CHECKING:
    from tagweave.learning.callback import Callback
    from tagweave.training.corpora import CorpusFile

Source = Corpus | str | PathLike[str]
_CORPORA = ("target", "sources", "dev", "options")


def train(
    target: Source | Sequence[Source],
    sources: Source | Sequence[Source] = (),
    dev: Source | None = None,
    task: str = "tag",
    method: str | None = None,
    weights: Sequence[float] | None = None,
    sample: Sequence[int | str] | None = None,
    callback: Callback | None = None,
    cancel: Callable[[], bool] | None = None,
    **settings: Any,
) -> Model:
    """Train a model: the one that `tagweave train` makes of the same corpora and options, to the last bit.

    Args:
        target: corpora of the guideline that is wanted, or arguments that name files of them.
        sources: corpora of other guidelines, or more of that one.
        dev: the corpus by which the best iteration is chosen. With it, a model that learned from sources is held
            against one of the target alone, and the better one is returned.
        task: `tag` (words), `segment`, `segtag` (both) or `parse` (trees).
        method: how corpora are combined; by default `coupled` (parsers: `stacked`) with sources of another guideline.
        weights: how often a sentence of each corpus counts, the target's first.
        sample: how many sentences of each corpus an iteration visits, or `"all"`.
        callback: is told of every iteration; `None`: lines on standard error.
        cancel: is asked before every batch of sentences; once it says yes, training ends as an interrupt ends it.
        settings: fields of `TrainingPlan` (`learner`, `settings`, `iterations`, `seed`, `threads`, `templates`,
            `lexicons` ...), and options of the method (`mapping`, `rounds`, `folds` ...).

    Raises:
        PlanError: values that do not exist or do not go together.
        CorpusError: corpora that do not suit them.
        TypeError: a setting that there is not.
        KeyboardInterrupt: the user stopped it before there was a model.
    """
    from tagweave.learning.progress import Lines
    from tagweave.learning.run import Run
    from tagweave.training.resolve import Corpora, job_of
    from tagweave.training.train import train as carry_out

    targets, others = _several(target), _several(sources)
    files = [_file(each, task) for each in (*targets, *others)]
    dev_file = None if dev is None else _file(dev, task)
    counted = _counted([each.corpus for each in files], weights, sample)
    files = [_weighted(*pair) for pair in zip(files, counted, strict=True)]
    plan = TrainingPlan(
        tuple(counted[: len(targets)]),
        tuple(counted[len(targets) :]),
        CorpusReference(dev_file.corpus.path) if dev_file else None,
        task,
        method=method,
        **_fields(settings),
    )
    run = Run(callback=callback or Lines(sys.stderr), tell=say if callback is None else lambda line: None)
    run = run if cancel is None else replace(run, cancel=cancel)
    training = carry_out(job_of(plan, run, Corpora(files, dev_file)))
    if training.outcome.interrupted and not training.outcome.iterations:
        raise KeyboardInterrupt
    return of_training(training)


def _several(given: Source | Sequence[Source]) -> list[Source]:
    return [given] if isinstance(given, (Corpus, str, PathLike)) else list(given)


def _file(given: Source, task: str) -> CorpusFile:
    from tagweave.training.corpora import of_corpus, read_corpus

    return of_corpus(given, task) if isinstance(given, Corpus) else read_corpus(fspath(given), task, None)


def _weighted(file: CorpusFile, reference: CorpusReference) -> CorpusFile:
    return replace(file, corpus=replace(file.corpus, weight=reference.weight))


def _counted(
    corpora: Sequence[Corpus], weights: Sequence[float] | None, sample: Sequence[int | str] | None
) -> list[CorpusReference]:
    """References to corpora, with how they count."""
    for name, given in (("weights", weights), ("sample", sample)):
        if given is not None and len(given) != len(corpora):
            raise PlanError(f"found {len(given)} numbers as {name}, expected {len(corpora)}, one for each corpus")
    numbers = weights or [each.weight for each in corpora]
    sizes: Sequence[Any] = sample or [None] * len(corpora)
    return [
        CorpusReference(corpus.path, weight=weight, sample=size)
        for corpus, weight, size in zip(corpora, numbers, sizes, strict=True)
    ]


def _fields(settings: dict[str, Any]) -> dict[str, Any]:
    """Fields of a plan, among them the options of the method."""
    from tagweave.training.methods import METHODS

    known = [each.name for each in fields(TrainingPlan) if each.name not in _CORPORA]
    options = dict.fromkeys(each.name for method in METHODS.values() for each in fields(method.options))
    for name in settings:
        if name not in known and name not in options:
            raise TypeError(f"train() has no setting {name!r}, expected one of {', '.join((*known, *options))}")
    of_plan = {name: value for name, value in settings.items() if name in known}
    if "lexicons" in of_plan:
        of_plan["lexicons"] = tuple(FileReference(fspath(path)) for path in of_plan["lexicons"])
    if "templates" in of_plan:
        of_plan["templates"] = tuple(of_plan["templates"])
    return {**of_plan, "options": {name: value for name, value in settings.items() if name in options}}
