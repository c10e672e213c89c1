"""Training beside a server: its process, when there is one, and what is left when it or the server is killed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from made_tasks import GUIDELINE, NN, VV, make_tasks, say

import tagweave as tw
from tagweave.annotate import retraining
from tagweave.annotate.retraining import Retraining, run_child, take, training
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.store import Store
from tagweave.models.storage import load_model
from tagweave.training.plan import Plan, Source


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


def test_a_process_that_dies_is_a_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The lock is held by whoever started it, and then it is free; what it said is in its log."""
    lock, log = take(tmp_path), tmp_path / "a.log"
    assert lock is not None
    with lock:
        run_child(lock, log, Event(), int, "x")
        assert take(tmp_path) is None
    assert "ValueError: invalid literal" in log.read_text("utf-8")
    died = f"training: the process died (1); the end of {log} says why"
    assert [each.getMessage() for each in caplog.records] == [died]
    ended, again = Event(), take(tmp_path)
    assert again is not None
    with again:
        ended.set()
        run_child(again, log, ended, time.sleep, 600)
    assert len(caplog.records) == 1  # that it is not wanted is no message


def test_a_training_does_not_outlive_its_server(tmp_path: Path) -> None:
    """However that ends; until it is gone, nobody else trains there."""
    code = f"""
from pathlib import Path
from threading import Event
from tagweave.annotate.retraining import run_child, take
asleep = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
if __name__ == "__main__":
    folder = Path({str(tmp_path)!r})
    run_child(take(folder), folder / "a.log", Event(), exec, asleep)
"""
    (tmp_path / "server.py").write_text(code, "utf-8")
    server = subprocess.Popen([sys.executable, str(tmp_path / "server.py")])
    log = tmp_path / "a.log"
    until(lambda: log.exists() and log.read_text("ascii").endswith("\n"))
    child = int(log.read_text("ascii"))
    assert take(tmp_path) is None
    os.kill(child, signal.SIGSTOP)  # the server is gone, and the child not yet
    server.kill()
    server.wait()
    assert take(tmp_path) is None
    os.kill(child, signal.SIGCONT)
    until(lambda: not is_there(child))
    until(lambda: take(tmp_path) is not None)  # the last of its threads may end after the first


def test_after_one_that_fails_the_next_follows_as_many_judgements(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retraining, "_PAUSE", 0.05)
    url, file = f"sqlite:///{tmp_path}/answers.db", tmp_path / "train.txt"
    settings = Settings(Rule(1, 0, 1))
    store = Store.open(url, settings, seed=1)
    store.add_tasks(make_tasks(range(30)))
    store.add_annotator("a")
    target = Source(str(file), guideline=GUIDELINE), Source(guideline=GUIDELINE)
    plan = Plan(target, iterations=1, average_seeds=1)
    again = Retraining(url, "first", GUIDELINE, plan, str(tmp_path / "out"), every=2, settings=settings)
    with caplog.at_level(logging.ERROR), training(again):
        for _ in range(2):
            say(store, 1, NN)
        until(lambda: bool(caplog.records))  # there is no such file
        assert str(file) in (tmp_path / "out" / "first-2.log").read_text("utf-8")
        file.write_text("a_VV b_NN\n", "utf-8")
        say(store, 1, NN)
        time.sleep(0.3)  # longer than the pause between two queries
        assert store.models() == []  # one is not enough
        say(store, 1, NN)
        until(lambda: [each.judgement for each in store.models()] == [4])
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [
        *("first-2.log", "first-4.log", "first-4.model", "training.lock")
    ]
    trained = load_model(tmp_path / "out" / "first-4.model").about["plan"]["target"]
    assert [(each["path"], each["size"]) for each in trained] == [("train.txt", 1), ("", 4)]


def test_between_trainings_a_process_corrects_the_newest_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers of a store do it once; a training that follows knows the answers that it learned from."""
    monkeypatch.setattr(retraining, "_PAUSE", 0.05)
    url, file, first = f"sqlite:///{tmp_path}/answers.db", tmp_path / "train.txt", tmp_path / "first.model"
    file.write_text("a_NN b_NN\nc_VV\n", "utf-8")
    tw.train(f"{GUIDELINE}={file}", iterations=2, average_seeds=1).save(first)
    settings = Settings(Rule(1, 0, 1))
    store = Store.open(url, settings, seed=1)
    store.add_tasks(make_tasks(range(30)))
    store.add_annotator("a")
    store.add_model(str(first), 0, 0)
    target = Source(str(file), guideline=GUIDELINE), Source(guideline=GUIDELINE)
    plan = Plan(target, iterations=1, average_seeds=1)
    again = Retraining(url, "first", GUIDELINE, plan, str(tmp_path / "out"), every=3, settings=settings)
    say(store, 1, VV)
    with caplog.at_level(logging.ERROR), training(again), training(again):
        until(lambda: store.models()[-1].judgement == 1)
        assert load_model(store.models()[-1].path).about["known"] and not caplog.records
        for _ in range(2):
            say(store, 1, VV)
        until(lambda: store.models()[-1].judgement == 3)
    assert [Path(each.path).name for each in store.models()] == ["first.model", "first-0.1.model", "first-3.model"]
    assert [path.name for path in (tmp_path / "out").glob("*.model")] == ["first-3.model"]
    assert len(load_model(tmp_path / "out" / "first-3.model").about["known"]) == 1  # all three say the same
