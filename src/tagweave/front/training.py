"""Train from Python as the command line does, resolve and carry out plans, and tune them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.errors import PlanError
from tagweave.front.corpora import Given
from tagweave.front.loading import of_training
from tagweave.front.model import Model
from tagweave.front.training_arguments import OPTIONS, Start, start_in_file, start_in_memory, trained
from tagweave.learning.run import Callback, Iteration
from tagweave.options import taking
from tagweave.streams import Tell, say
from tagweave.training.methods import read_plan
from tagweave.training.plan import Plan
from tagweave.training.retraining import plan_in

if TYPE_CHECKING:
    from tagweave.tuning.search import Tuning


@taking(OPTIONS)
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

    return of_training(
        trained(
            target,
            sources,
            dev,
            task,
            method,
            weights,
            sample,
            covers,
            _start(start),
            callback,
            cancel,
            minutes,
            **options,
        )
    )


def _start(start: Model | str | PathLike[str] | None) -> Start | None:
    if start is None:
        return None
    return start_in_memory(start.name, start.trained) if isinstance(start, Model) else start_in_file(fspath(start))


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
