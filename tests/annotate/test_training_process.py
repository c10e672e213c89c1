"""Training beside a server: its command, when there is some, and what is left when a process is killed."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from made_tasks import GUIDELINE, NN, make_tasks, say

from tagweave.annotate import retraining
from tagweave.annotate.retraining import Plan, start, training
from tagweave.annotate.store import Store
from tagweave.annotate.task import Rule, Settings
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models.storage import save_model
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.retraining import alone, run, take

COPY = "import shutil, sys; shutil.copy(*sys.argv[2:])"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Thirty questions, one answered."""
    store = Store.open(f"sqlite:///{tmp_path}/answers.db", Settings(Rule(1, 0, 1)), seed=1)
    store.add_tasks(make_tasks(range(30)))
    store.add_annotator("a")
    answer(store)
    return store


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A copy is trained quickly."""
    words = Corpus((Sentence(("a", "b"), {GUIDELINE: (("NN",), ("VV",))}),), GUIDELINE)
    save_model(fit([words], Recipe(), run=Run(Schedule(1))).model, tmp_path / "made")
    command = (sys.executable, "-c", COPY, "{annotated}", str(tmp_path / "made"), "{model}")
    return Plan(f"sqlite:///{tmp_path}/answers.db", GUIDELINE, command, str(tmp_path / "out"), every=2)


@pytest.fixture
def slow(plan: Plan, tmp_path: Path) -> Plan:
    """Training writes the number of its process, and does not end."""
    sleep = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    return replace(plan, command=(sys.executable, "-c", sleep, "{annotated}", "{model}"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What died is noticed and followed sooner."""
    monkeypatch.setattr(retraining, "_FIRST_WAIT", 0.1)
    monkeypatch.setattr(retraining, "_PAUSE", 0.05)


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something to be so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def is_there(process: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(process, signal.SIG_DFL)
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


def number_in(path: Path) -> int:
    """The number of a process that has written it to a file."""
    until(lambda: path.exists() and path.read_text("ascii").isdigit())
    return int(path.read_text("ascii"))


def answer(store: Store) -> None:
    say(store, 1, NN)


def test_a_training_that_fails_is_tried_again_with_more_judgements(store: Store, plan: Plan, tmp_path: Path) -> None:
    marked = str(tmp_path / "tried")
    failing = (
        "import os, shutil, sys; first = not os.path.exists(sys.argv[1]); open(sys.argv[1], 'w').close();"
        "sys.exit('no') if first else shutil.copy(*sys.argv[3:])"
    )
    words = (sys.executable, "-c", failing, marked, "{annotated}", *plan.command[-2:])
    answer(store)
    process = start(replace(plan, command=words))
    try:
        until(lambda: Path(marked).exists())
        answer(store)
        time.sleep(1.5)  # longer than its pause between two queries
        assert store.models() == []  # one is not enough
        answer(store)
        until(lambda: len(store.models()) == 1)
        assert process.is_alive()
        assert store.models()[-1].judgement == 4
    finally:
        process.terminate()
        process.join(30)
    assert process.exitcode == 0


def test_a_process_ends_that_is_terminated_while_python_removes_an_object(
    store: Store, plan: Plan, tmp_path: Path
) -> None:
    """Python drops what a handler raises there."""
    path = tmp_path / "watching.py"
    path.write_text(
        f"""
import os, signal
from tagweave.annotate.retraining import Plan, Store, watch
from tagweave.annotate.task import Rule, Settings

class Removed:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

def models(store, of=Store.models):
    Removed()
    return of(store)

Store.models = models
watch({plan!r}, os.getppid())
""",
        encoding="utf-8",
    )
    assert subprocess.run([sys.executable, str(path)], timeout=60, capture_output=True, check=False).returncode == 0


def test_a_process_that_died_is_followed_by_another_with_new_judgements(
    store: Store, plan: Plan, slow: Plan, tmp_path: Path, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    answer(store)
    with caplog.at_level(logging.ERROR), training(slow):
        first = number_in(tmp_path / "pid")
        watcher = parent_of(first)
        os.kill(watcher, signal.SIGKILL)
        until(lambda: not is_there(watcher))
        time.sleep(0.5)
        assert number_in(tmp_path / "pid") == first  # it would die again of the same judgements
        assert is_there(first)
        answer(store)
        until(lambda: number_in(tmp_path / "pid") != first)
        assert not is_there(first)  # no two at a time
        second = number_in(tmp_path / "pid")
        assert parent_of(second) not in (watcher, 1)
    until(lambda: not is_there(second))
    assert [each.getMessage() for each in caplog.records] == [
        "training: the process died (-9); another follows new judgements"
    ]


def test_a_process_that_cannot_be_started_is_tried_again(
    store: Store, plan: Plan, impatient: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Plan] = []

    def refuse_once(plan: Plan) -> object:
        tries.append(plan)
        if len(tries) == 1:
            raise BlockingIOError("Resource temporarily unavailable")
        return start(plan)

    monkeypatch.setattr(retraining, "start", refuse_once)
    with caplog.at_level(logging.ERROR), training(plan):
        until(lambda: bool(caplog.records))
        answer(store)
        until(lambda: len(store.models()) == 1)
    assert [each.getMessage() for each in caplog.records] == [
        "training: the process died (Resource temporarily unavailable); another follows new judgements"
    ]


def test_of_two_servers_one_trains_answers_do_not_wait_and_nothing_outlives_one_that_is_killed(
    store: Store, slow: Plan, tmp_path: Path, impatient: None
) -> None:
    answer(store)
    first = served(slow, tmp_path)
    trainer = number_in(tmp_path / "pid")
    watcher = parent_of(trainer)
    began = time.monotonic()
    for _ in range(20):
        answer(store)
    assert time.monotonic() - began < 20  # the training goes on for 600
    assert take(tmp_path / "out" / retraining._LOCK) is None  # as another process finds it
    with training(slow):
        time.sleep(1)
        assert number_in(tmp_path / "pid") == trainer
        first.kill()
        first.wait()
        until(lambda: not is_there(watcher) and not is_there(trainer))
        until(lambda: number_in(tmp_path / "pid") != trainer)


def served(plan: Plan, folder: Path) -> subprocess.Popen[bytes]:
    """Another process that trains beside what it does."""
    path = folder / "server.py"
    path.write_text(
        f"""
import time
from tagweave.annotate.retraining import Plan, training
from tagweave.annotate.task import Rule, Settings
if __name__ == "__main__":
    with training({plan!r}):
        time.sleep(600)
""",
        encoding="utf-8",
    )
    return subprocess.Popen([sys.executable, str(path)])


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


COPY_FILE = (sys.executable, "-c", "import shutil, sys; shutil.copy(*sys.argv[1:])", "{annotated}", "{model}")
ASLEEP = (sys.executable, "-c", "import time; time.sleep(600)", "{annotated}", "{model}")


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "some words; touch evil"
    path.write_text("annotated", "utf-8")
    return path


def trained(annotated: Path, command: tuple[str, ...] = COPY_FILE) -> Path:
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


def test_a_command_that_is_just_being_started_ends_with_the_process_that_is_terminated(
    annotated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Terminated(subprocess.Popen[bytes]):
        def _execute_child(self, *given: Any) -> None:
            super()._execute_child(*given)  # type: ignore[misc]  # there is a process now, and nobody has its number
            started.append(self.pid)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Terminated)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with pytest.raises(SystemExit):
            run(
                (sys.executable, "-c", "import time; time.sleep(60)"), annotated, annotated.with_name("m"), lambda: True
            )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not is_there(*started)


def test_what_is_no_longer_wanted_ends(annotated: Path) -> None:
    lock = annotated.with_name("training.lock")
    with pytest.raises(SystemExit):
        run(ASLEEP, annotated, annotated.with_name("model"), lambda: not (lock.exists() and lock.read_text("ascii")))
    assert not is_there(number_in(lock))


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
