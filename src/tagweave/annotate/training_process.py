"""Training beside the server: a process that trains when there are enough new judgements.

It shares only the store with the server. A training that fails is logged, and tried again after the next judgements. A
process that dies is replaced once there are new judgements; so if every training kills its process, they do not go on
without end.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Thread

from sqlalchemy.exc import SQLAlchemyError

from tagweave.annotate.retraining import Plan, retrain
from tagweave.annotate.store import Store
from tagweave.training.training_command import take

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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    os.nice(_NICE)
    folder, tried = Path(plan.folder), 0
    folder.mkdir(parents=True, exist_ok=True)
    store, lock = Store.open(plan.url, plan.settings), None
    while os.getppid() == parent:
        try:
            if (lock := lock or take(folder / _LOCK)) and _new(store, tried) >= plan.every:
                tried = store.last_judgement()
                retrain(store, plan, lambda: os.getppid() == parent)
        except (ValueError, KeyError, OSError, SQLAlchemyError, subprocess.SubprocessError) as error:
            _LOG.error("training: %s", error)  # it may succeed with the next judgements
        time.sleep(_PAUSE)
    store.close()


def _new(store: Store, tried: int) -> int:
    """The number of judgements that no training has used."""
    return store.last_judgement() - max(tried, *(each.judgement for each in store.models()), 0)


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
    """The number of the last judgement; `None` while the database cannot be reached."""
    try:
        return store.last_judgement()
    except SQLAlchemyError:
        return None
