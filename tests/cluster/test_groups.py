"""Objects on workers: they answer in order, their workers are replaced, and their exceptions arrive."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from tagweave.cluster import processes
from tagweave.cluster.executor import LOCAL, ClusterError, Executor, executor_at
from tagweave.errors import CorpusError
from tests.cluster.calls import Scale


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
