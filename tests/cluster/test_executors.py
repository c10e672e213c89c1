"""Executors give the same results, whatever they run on, also when they hold objects."""

from __future__ import annotations

import hashlib
import multiprocessing
import pickle
import sys
import time
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tagweave.cluster import processes, shared_file
from tagweave.cluster.executor import AUTO, LOCAL, ClusterError, Executor, Failure, executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.corpus import files as files_of_corpora
from tagweave.errors import CorpusError
from tests.cluster.calls import (
    Scale,
    connect,
    content,
    die_at_first,
    die_below_zero,
    raise_what_does_not_travel,
    sleep,
    square,
    survives_interrupt,
)


def test_every_item_has_an_outcome(executor: Executor) -> None:
    outcomes = dict(executor.outcomes(square, range(-1, 20)))
    failure = outcomes.pop(-1)
    assert outcomes == {number: number * number for number in range(20)}
    assert isinstance(failure, Failure)
    assert str(failure.error) == "found -1, expected 0 or more"
    assert "in square" in failure.trace


def test_an_exception_that_cannot_travel_is_told_in_words(executor: Executor) -> None:
    for _, failure in executor.outcomes(raise_what_does_not_travel, ["arguments", "attribute"]):
        assert isinstance(failure, Failure)
        assert isinstance(failure.error, RuntimeError)
        assert str(failure.error) in {
            "TwoArgumentsError: found one, expected two",
            "FunctionError: found none, expected some",
        }
        assert "in raise_what_does_not_travel" in failure.trace


def test_items_are_taken_as_workers_become_free(executor: Executor) -> None:
    taken: list[int] = []

    def items() -> Any:
        for number in range(1000):
            taken.append(number)
            yield number

    outcomes = executor.outcomes(square, items())
    next(outcomes)
    assert len(taken) < 50
    outcomes.close()  # type: ignore[attr-defined]
    taken.clear()
    outcomes = executor.outcomes(square, items(), ahead=False)
    next(outcomes)
    assert len(taken) == executor.workers
    outcomes.close()  # type: ignore[attr-defined]


def test_a_call_whose_worker_was_killed_is_repeated(executor: Executor, tmp_path: Path) -> None:
    [(_, process)] = executor.outcomes(die_at_first, [str(tmp_path / "died")])
    assert isinstance(process, int)


def test_calls_go_on_when_there_are_fewer_machines_than_before(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processors = chain([8], repeat(1))
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": next(processors)})
    with executor_at(AUTO) as executor:
        assert dict(executor.outcomes(square, range(40))) == {number: number * number for number in range(40)}


def test_calls_that_kill_their_processes_fail_alone() -> None:
    with executor_at(LOCAL, workers=2) as executor:
        outcomes = dict(executor.outcomes(die_below_zero, [0, -1, 1, 2, 3, 4, -2, 5]))
    failures = [outcomes.pop(number) for number in (-1, -2)]
    assert outcomes == {number: number for number in range(6)}
    assert all(isinstance(each, Failure) and isinstance(each.error, ClusterError) for each in failures)


def test_processes_leave_ctrl_c_to_the_program_that_started_them() -> None:
    with executor_at(LOCAL, workers=1) as executor:
        assert list(executor.outcomes(survives_interrupt, [1])) == [(1, True)]


def test_processes_end_at_once_when_the_block_raises() -> None:
    with pytest.raises(KeyboardInterrupt), executor_at(LOCAL, workers=1) as executor:
        next(executor.outcomes(sleep, [0, 60, 60]))
        begin = time.monotonic()
        raise KeyboardInterrupt
    assert time.monotonic() - begin < 30
    assert not [each for each in multiprocessing.active_children() if each.join(5) or each.is_alive()]


def test_a_shared_file_is_read_where_it_is(executor: Executor, tmp_path: Path) -> None:
    (tmp_path / "model").write_text("weights")
    file = executor.share(SharedFile.of(str(tmp_path / "model")))
    assert dict(executor.outcomes(content, [file])) == {file: "weights"}


def test_a_shared_file_travels_to_machines_that_lack_it(ray: Any, tmp_path: Path) -> None:
    (tmp_path / "model").write_text("weights of old")
    with executor_at(AUTO, workers=1) as executor:
        file = executor.share(SharedFile.of(str(tmp_path / "model")))
        (tmp_path / "model").write_text("another content: this machine has no such file")
        [(_, text)] = executor.outcomes(content, [file])
    assert text == "weights of old"


def test_a_changed_file_without_a_copy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("weights of yore")
    file = SharedFile.of(str(tmp_path / "model"))
    (tmp_path / "model").write_text("other weights")
    with pytest.raises(FileNotFoundError, match="expected the same one"):
        file.local()


def test_copies_are_digested_once_and_the_last_used_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digested: list[str] = []
    monkeypatch.setattr(shared_file, "digest", lambda path: digested.append(path) or files_of_corpora.digest(path))
    monkeypatch.setattr(shared_file, "private_folder", lambda name: tmp_path)
    monkeypatch.setattr(shared_file, "_KEPT", 3)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=lambda content: content))
    contents = [str(number).encode() for number in range(6)]
    files = [SharedFile("/nowhere/model", hashlib.sha256(each).hexdigest(), each) for each in contents]
    for file in files:
        assert Path(file.local()).read_bytes() == file.content
        files[0].local()
    assert digested.count(files[0].local()) == 1
    assert {Path(files[number].local()) for number in (0, 4, 5)} == set(tmp_path.iterdir())


def test_an_unreachable_cluster_is_named() -> None:
    with executor_at(LOCAL, workers=1) as executor:
        [(_, failure)] = executor.outcomes(connect, ["127.0.0.1:1"])
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, ClusterError)
    assert "127.0.0.1:1" in str(failure.error)


def test_replies_are_in_the_order_of_the_items_although_a_worker_was_killed(executor: Executor, tmp_path: Path) -> None:
    arrays = {"row": np.arange(5.0), "none": np.zeros((0, 3), np.int32)}
    with executor.hold(Scale, [3.0, 2.0]) as group:
        for _ in range(2):
            replies = [
                (reply["row"].copy(), reply["none"].shape, factor)
                for reply, factor in group.call("times", arrays, str(tmp_path / "died"))
            ]
            assert [row.tolist() for row, _, _ in replies] == [[0, 3, 6, 9, 12], [0, 2, 4, 6, 8]]
            assert [(shape, factor) for _, shape, factor in replies] == [((0, 3), 3.0), ((0, 3), 2.0)]
    assert (tmp_path / "died").exists()


def test_an_exception_of_an_object_arrives_as_it_was_raised(executor: Executor) -> None:
    with executor.hold(Scale, [1.0, -1.0]) as group, pytest.raises(CorpusError, match="factors:1: found the factor"):
        list(group.call("times", {}))


def test_a_call_can_be_given_up_while_it_waits(executor: Executor) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with executor.hold(Scale, [1.0]) as group, pytest.raises(KeyboardInterrupt):
        list(group.call("sleep", {}, while_waiting=stop))


def test_a_call_that_ends_every_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RETRIES", 1)
    with (
        executor_at(LOCAL, workers=1) as executor,
        executor.hold(Scale, [1.0]) as group,
        pytest.raises(ClusterError, match="ended 2 workers"),
    ):
        list(group.call("die", {}))


def test_an_object_that_cannot_travel_is_named() -> None:
    with (
        executor_at(LOCAL, workers=1) as executor,
        executor.hold(lambda item: item, [1]) as group,
        pytest.raises((AttributeError, pickle.PicklingError), match="lambda"),
    ):
        list(group.call("die", {}))
