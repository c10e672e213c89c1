"""Retraining on answers beside the server, and reranking the tasks by the new model.

The answers that were agreed on are written as a partial corpus, a command trains a model on it (`Plan.command`), and
the model is added to the store as a new version, which makes the server use it. The file of a version never changes, so
training can be killed at any point: the next one adds a model whose file exists but is not in the store. The process
that trains shares only the store with the server, and is replaced when it dies and there are new judgements.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Thread

from sqlalchemy.exc import SQLAlchemyError

from tagweave.annotate import export, intake, selection
from tagweave.annotate.questions import ModelVersion
from tagweave.annotate.store import Store
from tagweave.annotate.task import Settings, Status
from tagweave.corpus.formats import conllu
from tagweave.corpus.load import load
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import ModelFileError, load_model
from tagweave.streams.inputs import load_for
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.task import Task
from tagweave.training.retraining import run, take

_PAGE = 100  # tasks ranked at a time: annotators should not wait for a longer transaction


@dataclass(frozen=True)
class Plan:
    """Which model is trained, and when."""

    url: str  # of the store
    guideline: str
    command: tuple[str, ...]  # its words contain ANNOTATED and MODEL; it writes MODEL all or not at all
    folder: str  # for the models, corpora and logs; created if it does not exist
    every: int = 100  # new judgements after which a training begins
    form: str = conllu.FORMAT.name  # of the partial corpus: or columns for spans, KyTea's for characters
    dev: str | None = None  # a corpus argument; the accuracy on it is stored with the model
    corpus: str | None = None  # a corpus argument; a share of its tokens, the least certain, become tasks, too
    share: float = 0.2
    strategy: str = "marginal"  # one of selection.STRATEGIES
    settings: Settings = field(default_factory=Settings)  # by which tasks are added and ranked


def retrain(store: Store, plan: Plan, is_wanted: Callable[[], bool] = lambda: True) -> ModelVersion | None:
    """Train on all judgements so far, add the model, and rerank tasks; `None` if nothing is agreed on yet.

    The training ends when `is_wanted` returns False.
    """
    judgement = store.last_judgement()
    path = Path(plan.folder) / f"model-{judgement}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():  # otherwise a process ended between training the model and adding it
        annotated = path.with_suffix(f".{plan.form}")
        if not export.write(store, str(annotated), plan.form, plan.guideline):
            return None
        run(plan.command, annotated, path, is_wanted)
    try:
        model = load_model(path, ChainModel)
    except ModelFileError:
        path.unlink()  # so that it is trained again
        raise
    version = store.add_model(str(path), judgement, minutes(store), accuracy(model, plan.dev, plan.guideline))
    rank(store, plan, model, version)
    return store.models()[-1]


def rank(store: Store, plan: Plan, model: ChainModel, version: int) -> None:
    """Give open tasks the uncertainty and candidates of a model, and add tasks for what else it is uncertain about.

    Words of a list keep the rank with which they were imported. Raises KeyError for an unknown guideline.
    """
    if model.of_characters:
        return
    tagger = ChainPredictor(model, guideline=plan.guideline)
    for page in store.task_pages(Status.OPEN, _PAGE):
        own = [each for each in page if each.task.guideline == plan.guideline]
        store.rank(version, selection.rankings(tagger, own, version, plan.strategy))
    if plan.corpus:
        corpus = load_for(tagger, plan.corpus)
        intake.put_uncertain(store, corpus, tagger, plan.share, version, strategy=plan.strategy)


def minutes(store: Store) -> float:
    """Return the minutes of annotation by all annotators together."""
    return sum(store.progress(each.id).seconds for each in store.annotators()) / 60


def accuracy(model: ChainModel, dev: str | None, guideline: str) -> float | None:
    """Return the accuracy on a corpus: F of words or of spans, where a model finds these. It may name no guideline."""
    if dev is None:
        return None
    coding = Task(model.task, model.coding)
    return float(dev_score(model, coding.prepare(load(dev, None, guideline, model.layers(guideline))))(model.weights))


_LOG = logging.getLogger(__name__)
_LOCK = "watching.lock"
_PAUSE = 1.0  # seconds between two queries of the store
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 600.0  # seconds until a process that died is replaced
_NICE = 10  # requests take precedence


@contextmanager
def training(plan: Plan) -> Iterator[None]:
    """Train in the background while the block runs."""
    ended = Event()
    thread = Thread(target=_keep, args=(plan, ended), name="training", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def start(plan: Plan) -> BaseProcess:
    """Start the process. It ends with its parent, however that ends, or when it is terminated."""
    process = multiprocessing.get_context("spawn").Process(target=watch, args=(plan, os.getpid()), daemon=True)
    process.start()
    return process


def watch(plan: Plan, parent: int) -> None:
    """Train whenever there are enough judgements, until the parent process is gone; the body of the process.

    Of several processes in one folder the first trains; the next waits until the first has ended.
    """
    ended: list[int] = []

    def end(number: int, _frame: object) -> None:
        ended.append(number)
        sys.exit(0)  # Python drops this in a `__del__`

    def is_wanted() -> bool:
        return not ended and os.getppid() == parent

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    os.nice(_NICE)
    folder, tried = Path(plan.folder), 0
    folder.mkdir(parents=True, exist_ok=True)
    store, lock = Store.open(plan.url, plan.settings), None
    while is_wanted():
        try:
            if lock := lock or take(folder / _LOCK):
                used, last = max(tried, *(each.judgement for each in store.models()), 0), store.last_judgement()
                if last - used >= plan.every:
                    tried = last
                    retrain(store, plan, is_wanted)
        except (ValueError, KeyError, OSError, SQLAlchemyError, subprocess.SubprocessError) as error:
            _LOG.error("training: %s", error)  # it may succeed with the next judgements
        time.sleep(_PAUSE)
    store.close()


def _keep(plan: Plan, ended: Event) -> None:
    """Keep a process running until `ended` is set."""
    wait, store = _FIRST_WAIT, Store.open(plan.url)
    while not ended.is_set():
        seen, began = _last(store), time.monotonic()
        why = _run(plan, ended)
        if ended.is_set():
            break
        wait = _FIRST_WAIT if time.monotonic() - began > _LONGEST_WAIT else wait
        _LOG.error("training: the process died (%s); another follows new judgements", why)
        ended.wait(wait)
        while _last(store) in (seen, None) and not ended.wait(_PAUSE):
            pass
        wait = min(2 * wait, _LONGEST_WAIT)
    store.close()


def _run(plan: Plan, ended: Event) -> object:
    """Run a process until it dies or `ended` is set. Returns its exit code, or the error on starting it."""
    try:
        process = start(plan)
    except OSError as error:
        return error
    while process.is_alive() and not ended.wait(_PAUSE):
        pass
    process.terminate()
    process.join()
    return process.exitcode


def _last(store: Store) -> int | None:
    """Return the number of the last judgement; `None` while the database cannot be reached."""
    try:
        return store.last_judgement()
    except SQLAlchemyError:
        return None
