"""Model, questions, answers, model: the loop through a real server, whose processes are killed in between."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from model_files import corpora_of
from serving import serving

from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Status, label
from tagweave.corpus.load import load
from tagweave.models.storage import load_model


def until(condition: Callable[[], object], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)


def trainers(server: int) -> list[int]:
    """The processes that a server has started to train, and those that these have started."""
    found = [server]
    for number in found:
        children = Path(f"/proc/{number}/task").glob("*/children")
        found += [int(child) for each in children for child in each.read_text("ascii").split()]
    return [each for each in found[1:] if "resource_tracker" not in Path(f"/proc/{each}/cmdline").read_text()]


def is_there(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and "Z" not in stat.read_text("ascii").rsplit(")", 1)[1].split()[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(f"sqlite:///{tmp_path}/answers.db", seed=1)
    for name in "ab":
        store.add_annotator(name)
    return store


def answer(store: Store, corpora: Path, number: int) -> None:
    """So many tasks get two right answers each."""
    gold = [[c[0] for c in each.layers["tag"] if c] for each in load(str(corpora / "dev.txt"))]

    def right(task: AnnotationTask) -> Answer:
        return label(gold[task.sentence.location.line - 1][task.start])

    people = [Simulated(StoreDesk(store, who), right, even(1.0), who) for who in (1, 2)]
    before = store.counts()
    settled = sum(count for (_, status), count in before.items() if status is not Status.OPEN)
    while sum(count for (_, status), count in store.counts().items() if status is not Status.OPEN) < settled + number:
        for each in people:
            assert each.step()


@pytest.mark.timeout(900)  # three trainings, at the lowest priority
def test_a_loop_that_goes_on_whatever_is_killed(store: Store, tmp_path: Path, corpora: Path, tagger: Path) -> None:
    options = ("--store", f"sqlite:///{tmp_path}/answers.db", "--model", tagger, "--corpus", corpora / "dev.seg")
    options += ("--share", "0.3", "--train", corpora / "train.txt", "--dev", corpora / "dev.txt")
    options += ("--models", tmp_path / "models", "--every", "6")

    with serving(*options) as server:
        (first,) = store.models()
        assert first.path == str(tagger)
        assert first.accuracy is not None
        answer(store, corpora, 3)
        until(lambda: len(store.models()) == 2)
        second = store.models()[-1]
        _check(store, second.path, tagger)
        assert second.accuracy is not None
        assert second.minutes > 0
        until(lambda: {each.task.model for each in store.tasks(Status.OPEN)} == {second.version})

        watcher = trainers(server.process.pid)[0]
        os.kill(watcher, signal.SIGKILL)
        until(lambda: not is_there(watcher))
        answer(store, corpora, 4)  # whoever was killed, answers are taken
        until(lambda: len(trainers(server.process.pid)) == 2)  # it trains
        left = trainers(server.process.pid)
        server.process.kill()
        server.process.wait()
        until(lambda: not any(map(is_there, left)))

    with serving(*options) as server:  # what was not trained on yet is, now
        until(lambda: len(store.models()) == 3)
        assert store.models()[-1].judgement == store.last_judgement()
        processes = [server.process.pid, *trainers(server.process.pid)]
    until(lambda: not any(map(is_there, processes)))


def _check(store: Store, path: str, tagger: Path) -> None:
    """A model that was trained as the first one was, on the answers, too."""
    about, before = load_model(path).about, load_model(tagger).about
    assert about["recipe"] == before["recipe"]
    assert about["iterations"] == before["iterations"]
    assert [Path(each["path"]).suffix for each in corpora_of(about)] == [".txt", ".conllu"]
    answered = load(str(Path(path).with_name(corpora_of(about)[1]["path"])))
    assert answered.guideline == "ctb"
    known = sum(each is not None for sentence in answered for each in sentence.layers["ctb"])
    assert known == 3
