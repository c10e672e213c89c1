"""The command that trains: what becomes of its file, and that two never run at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from processes import is_there, number_in

from tagweave.training.retraining import alone, run, take

COPY = (sys.executable, "-c", "import shutil, sys; shutil.copy(*sys.argv[1:])", "{annotated}", "{model}")
ASLEEP = (sys.executable, "-c", "import time; time.sleep(600)", "{annotated}", "{model}")


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "some words; touch evil"
    path.write_text("annotated", "utf-8")
    return path


def trained(annotated: Path, command: tuple[str, ...] = COPY) -> Path:
    model = annotated.with_name("model.safetensors")
    run(command, annotated, model, lambda: True)
    return model


def test_the_model_is_under_its_name(annotated: Path) -> None:
    assert trained(annotated).read_text("utf-8") == "annotated"
    assert sorted(each.name for each in annotated.parent.iterdir()) == [
        "model.log",
        "model.safetensors",
        annotated.name,
        "training.lock",
    ]


def test_what_fails_leaves_no_model_but_what_it_said(annotated: Path) -> None:
    half = "import sys; open(sys.argv[1], 'w').write('half'); sys.exit('no more')"
    with pytest.raises(subprocess.CalledProcessError):
        trained(annotated, (sys.executable, "-c", half, "{model}"))
    assert not annotated.with_name("model.safetensors").exists()
    assert annotated.with_name("model.log").read_text("utf-8") == "no more\n"
    trained(annotated)  # the lock is free


def test_no_such_program(annotated: Path) -> None:
    with pytest.raises(FileNotFoundError):
        trained(annotated, ("/nowhere/program",))
    trained(annotated)


def test_what_is_no_longer_wanted_ends(annotated: Path) -> None:
    lock = annotated.with_name("training.lock")
    with pytest.raises(SystemExit):
        run(ASLEEP, annotated, annotated.with_name("model"), lambda: not (lock.exists() and lock.read_text("ascii")))
    assert not is_there(number_in(lock))


def test_a_lock_is_free_when_its_holder_closes_it(tmp_path: Path) -> None:
    first = take(tmp_path / "lock")
    assert take(tmp_path / "lock") is None
    first.close()
    second = take(tmp_path / "lock")
    second.close()


def test_what_was_left_behind_is_ended_first(annotated: Path) -> None:
    lock = annotated.with_name("training.lock")
    left = multiprocessing.get_context("spawn").Process(target=trained, args=(annotated, ASLEEP))
    left.start()
    asleep = number_in(lock)
    assert left.pid
    os.kill(left.pid, signal.SIGKILL)
    left.join()
    assert is_there(asleep)
    assert take(lock) is None
    trained(annotated)
    assert not is_there(asleep)


def test_one_that_is_just_being_started_is_waited_for(tmp_path: Path) -> None:
    held, entered = take(tmp_path / "training.lock"), Event()
    assert held is not None

    def enter() -> None:
        with alone(tmp_path):
            entered.set()

    waiting = Thread(target=enter)
    waiting.start()
    assert not entered.wait(0.5)
    held.close()
    assert entered.wait(60)
    waiting.join()
