"""Training beside the server: a process that trains when enough new judgements are in.

It shares nothing with the server but the store. A training that fails is logged, and tried again with the next
judgements. A process that died, whatever of, is followed by another one, once there are new judgements; so one that
every training kills does not train without end.
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
from tagweave.annotate.training_command import take

_LOG = logging.getLogger(__name__)
_LOCK = "watching.lock"
_PAUSE = 1.0  # seconds between two looks at the store
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 600.0  # seconds until a process that died is followed by another
_NICE = 10  # requests come first


@contextmanager
def training(plan: Plan) -> Iterator[None]:
    """Train beside the block."""
    ended = Event()
    thread = Thread(target=_keep, args=(plan, ended), name="training", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def start(plan: Plan) -> BaseProcess:
    """Start the process. It ends with its parent, whatever that dies of, or when it is terminated."""
    process = multiprocessing.get_context("spawn").Process(target=watch, args=(plan, os.getpid()), daemon=True)
    process.start()
    return process


def watch(plan: Plan, parent: int) -> None:
    """Train whenever it is time, until the parent process is gone; the body of the process.

    Of several in one folder the first one trains; the next one waits until that has ended.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    os.nice(_NICE)
    folder, tried = Path(plan.folder), 0
    folder.mkdir(parents=True, exist_ok=True)
    store, lock = Store.open(plan.url), None
    while os.getppid() == parent:
        try:
            if (lock := lock or take(folder / _LOCK)) and _new(store, tried) >= plan.every:
                tried = store.last_judgement()
                retrain(store, plan, lambda: os.getppid() == parent)
        except (ValueError, KeyError, OSError, SQLAlchemyError, subprocess.SubprocessError) as error:
            _LOG.error("training: %s", error)  # the next judgements may mend it
        time.sleep(_PAUSE)
    store.close()


def _new(store: Store, tried: int) -> int:
    """How many judgements no training has seen."""
    return store.last_judgement() - max(tried, *(each.judgement for each in store.models()), 0)


def _keep(plan: Plan, ended: Event) -> None:
    """See to it that there is a process, until the end."""
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
    """A process until it dies or all ends; what it died of: its exit code, or that it could not be started."""
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
    """The last judgement; `None` while the database cannot be asked."""
    try:
        return store.last_judgement()
    except SQLAlchemyError:
        return None
