"""Retraining beside a server: a child process makes a corpus of the answers, and trains the served model's plan on it.

The child reads the store itself, and a model appears under its name when it is complete. So the child may be killed at
any point: whatever it has not finished, the next one does. It ends with its parent, however that ends, and holds the
lock of the folder of models until then, so that no two train there.

Between two trainings, a child corrects the newest model by new answers (`models.correction`), and ranks the open tasks
by it. A correction is a version as a training is (`models.versions`), but nobody measures it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import reduction
from pathlib import Path
from threading import Event, Thread
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from tagweave.annotate import export, intake, selection
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import ModelVersion, Store
from tagweave.annotate.task import Status
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.learning.progress import Lines
from tagweave.learning.run import Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.correction import corrected_by
from tagweave.models.storage import load_model
from tagweave.models.versions import is_correction, remove_corrections, save_correction
from tagweave.signals import leave_with_parent
from tagweave.streams.inputs import load_for
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.task import Task
from tagweave.training.plan import Plan
from tagweave.training.retraining import train_again

_LOG = logging.getLogger(__name__)
_PAUSE = 1.0  # seconds between two queries of the store
_NICE = 10  # requests take precedence
_REST = 3  # times the seconds that a correction took, until the next


class Lock:
    """An exclusive lock on a file, held until this process and the children that it was passed to close it or end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it in this process."""
        os.close(self._descriptor)

    def __reduce__(self) -> tuple[Callable[[Any], Lock], tuple[Any]]:
        return _inherited, (reduction.DupFd(self._descriptor),)


def _inherited(duplicate: Any) -> Lock:
    return Lock(duplicate.detach())


def take(folder: Path | str, name: str = "training.lock") -> Lock | None:
    """Take a lock of a folder of models, which is created if needed; `None` if others hold it."""
    try:
        import fcntl
    except ImportError as error:
        expected = "a system with its locks: training beside the server needs them"
        raise OSError(f"found no fcntl, expected {expected}") from error
    Path(folder).mkdir(parents=True, exist_ok=True)
    descriptor = os.open(Path(folder, name), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return Lock(descriptor)


def run_child(lock: Lock, log: Path, ended: Event, work: Callable[..., object], *arguments: object) -> None:
    """Call a function in a child process, and return when it has ended, or has been killed because `ended` was set.

    What it prints goes to the file `log`. That it died is a message in the log of the server. Raises OSError if no
    process can be started.
    """
    spawn = multiprocessing.get_context("spawn")
    child = spawn.Process(target=_child, args=(lock, log, work, arguments), name="training")
    child.start()
    while child.is_alive() and not ended.is_set():
        child.join(_PAUSE)
    if child.is_alive():
        child.kill()
        child.join()
    elif child.exitcode:
        _LOG.error("training: the process died (%d); the end of %s says why", child.exitcode, log)


def _child(lock: Lock, log: Path, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    leave_with_parent()
    os.nice(_NICE)
    with lock, log.open("w", encoding="utf-8") as file:
        for descriptor in (1, 2):  # what the interpreter says as it ends, too
            os.dup2(file.fileno(), descriptor)
        work(*arguments)


def learn(plan: Plan, evidence: Corpus, path: Path) -> None:
    """Train on evidence, and tell on standard error how it goes."""
    run = Run(callback=Lines(sys.stderr), tell=lambda line: print(line, file=sys.stderr, flush=True))
    train_again(plan, evidence, path, run)


@dataclass(frozen=True)
class Retraining:
    """How a model is trained again on the answers in a store, and when."""

    url: str  # of the store
    name: str  # of the model; versions are NAME-NUMBER.model, by the number of the last judgement
    guideline: str
    plan: Plan
    folder: str  # for models and logs
    every: int = 100  # new judgements after which a training begins
    dev: str | None = None  # a corpus argument; the accuracy on it is stored with the model
    corpus: str | None = None  # a corpus argument; a share of its tokens, the least certain, become tasks, too
    share: float = 0.2
    settings: Settings = field(default_factory=Settings)  # by which tasks are added and ranked
    corrects: bool = True  # whether the model is corrected between trainings

    def is_due(self, store: Store, tried: int) -> bool:
        """Return whether there are enough judgements since those of the last training, and since `tried`."""
        trained = (model.judgement for model in store.models() if not is_correction(model.path, self.name))
        return store.last_judgement() - max(tried, *trained, 0) >= self.every

    def is_new(self, store: Store, tried: int) -> bool:
        """Return whether there are judgements since those of the last model or correction, and since `tried`."""
        learned = [model.judgement for model in store.models()]
        return self.corrects and learned != [] and store.last_judgement() > max(tried, *learned)

    def path(self, judgement: int) -> Path:
        """Return the file of the model that learned from the judgements up to this one."""
        return Path(self.folder) / f"{self.name}-{judgement}.model"


@contextmanager
def training(retraining: Retraining) -> Iterator[None]:
    """Train in the background while the block runs, whenever there are enough new judgements."""
    ended = Event()
    thread = Thread(target=_watch, args=(retraining, ended), name="training", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _watch(retraining: Retraining, ended: Event) -> None:
    """Start a child whenever one is due. After one that died, the next follows as many new judgements."""
    store, tried, corrected, rested = Store.open(retraining.url), 0, 0, 0.0
    while not ended.wait(_PAUSE):
        try:
            is_new = time.monotonic() >= rested and retraining.is_new(store, corrected)
            if not (is_new or retraining.is_due(store, tried)) or (lock := take(retraining.folder)) is None:
                continue
            with lock:
                if retraining.is_due(store, tried):  # also after waiting for another server's training
                    tried = store.last_judgement()
                    run_child(lock, retraining.path(tried).with_suffix(".log"), ended, _retrain, retraining)
                elif is_new and retraining.is_new(store, corrected):
                    corrected, began = store.last_judgement(), time.monotonic()
                    log = Path(retraining.folder, f"{retraining.name}-correction.log")
                    run_child(lock, log, ended, _correct, retraining)
                    rested = time.monotonic() + _REST * (time.monotonic() - began)
        except (OSError, SQLAlchemyError) as error:
            _LOG.error("training: %s", error)
    store.close()


def _retrain(retraining: Retraining) -> None:
    retrain(Store.open(retraining.url, retraining.settings), retraining)


def _correct(retraining: Retraining) -> None:
    correct(Store.open(retraining.url, retraining.settings), retraining)


def retrain(store: Store, retraining: Retraining) -> ModelVersion | None:
    """Train on all judgements so far, add the model, and rerank tasks; `None` if nothing is agreed on yet."""
    judgement = store.last_judgement()
    path = retraining.path(judgement)
    if not path.exists():  # otherwise a process ended between training the model and ranking by it
        evidence = export.evidence(store, retraining.guideline, retraining.plan.task)
        if not len(evidence):
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        learn(retraining.plan, evidence, path)
    model, spent = load_model(path, ChainModel), minutes(store)
    measured = accuracy(model, retraining.dev, retraining.guideline)
    version = intake.version_of(store, str(path), lambda: measured, spent)
    rank(store, retraining, model, version)
    if retraining.corpus and not model.of_characters:
        tagger = ChainPredictor(model, guideline=retraining.guideline)
        corpus = load_for(tagger, retraining.corpus)
        intake.put_uncertain(store, corpus, tagger, retraining.share, version)
    store.measured(version, judgement, spent, measured)  # until then, another training is due
    remove_corrections(path.parent, retraining.name, str(path))
    return store.models()[-1]


def correct(store: Store, retraining: Retraining) -> ModelVersion | None:
    """Correct the newest model by the answers that it does not know, add it, and rerank tasks.

    `None` if it is right about all, or there is no file of it. Raises PlanError as `correction.refuse`.
    """
    judgement, last = store.last_judgement(), store.models()[-1]
    try:
        model, path = load_model(last.path, ChainModel), last.path
    except FileNotFoundError:
        return None
    evidence = export.evidence(store, retraining.guideline, retraining.plan.task)
    corrected = corrected_by(model, evidence, lambda line: print(line, file=sys.stderr, flush=True))
    if corrected.weights is not model.weights:
        path = save_correction(corrected, retraining.folder, retraining.name, last.path)
    elif last.judgement or not is_correction(path, retraining.name):  # else a process ended before ranking by it
        return None
    spent = minutes(store)
    version = intake.version_of(store, path, minutes=spent)
    rank(store, retraining, corrected, version)
    store.measured(version, judgement, spent, None)
    remove_corrections(retraining.folder, retraining.name, path)
    return store.models()[-1]


def rank(store: Store, retraining: Retraining, model: ChainModel, version: int) -> None:
    """Give open tasks the uncertainty and candidates of a model. Raises KeyError for an unknown guideline."""
    if model.of_characters:
        return
    tagger = ChainPredictor(model, guideline=retraining.guideline)
    for page in store.task_pages(Status.OPEN, _PAGE):
        asked = [one for one in page if one.task.guideline == retraining.guideline]
        store.rank(version, selection.rankings(tagger, asked, version))


_PAGE = 100  # tasks ranked at a time: annotators should not wait for a longer transaction


def minutes(store: Store) -> float:
    """Return the minutes of annotation by all annotators together."""
    return sum(store.progress(annotator.id).seconds for annotator in store.annotators()) / 60


def accuracy(model: ChainModel, dev: str | None, guideline: str) -> float | None:
    """Return the accuracy on a corpus: F of words or of spans, where a model finds these. It may name no guideline."""
    if dev is None:
        return None
    coding = Task(model.task, model.coding)
    return float(dev_score(model, coding.prepare(load(dev, None, guideline, model.layers(guideline))))(model.weights))
