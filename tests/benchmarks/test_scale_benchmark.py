"""The simulated cluster against cases that can be computed by hand, and the fit of measured times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.simulated_cluster import AHEAD, LEVEL, Assumptions, driver_seconds, simulate
from benchmarks.task_times import fitted
from benchmarks.task_times_measure import SIZES
from tagweave.cluster import ray_cluster
from tagweave.corpus import files

TIMES = {"start": 0.0, "per_shard": 1.0, "per_million": 2.0, "spread": 0.0}
BYTES = {
    "text_bytes": 3.0,
    "output_bytes": 4.0,
    "text_left": 0.5,
    f"output_left_{LEVEL}": 0.25,
    "read": 0.1,
    f"write_{LEVEL}": 0.2,
}
TASK = TIMES | BYTES
CALLS = [{"waiting": 8, "seconds": 0.0, "look": 0.0}]
EVEN = Assumptions(1, boot=0, boot_spread=0, network=1e6, store=1e6, requests=0, slow=0, shard=1e6, shard_spread=0)
"""Machines of one processor and shards of one size; nothing takes time but the work."""


def seconds(machines: int, characters: float = 12e6, **changes: Any) -> float:
    given = replace(EVEN, **{key: value for key, value in changes.items() if key != "calls"})
    return 3600 * simulate(TASK, changes.get("calls", CALLS), given, machines, characters, is_packed=False).hours


@pytest.mark.parametrize(("machines", "shards"), [(1, 12), (3, 4), (5, 3), (12, 1), (100, 1)])
def test_machines_share_equal_shards(machines: int, shards: int) -> None:
    assert seconds(machines) == pytest.approx(3.0 * shards, rel=1e-3)


def test_the_driver_gives_out_one_shard_after_the_other() -> None:
    """A hundred workers, a thousand shards, and a second of the driver for each."""
    assert seconds(100, 1000e6, calls=[{**CALLS[0], "seconds": 1.0}]) >= 1000


@pytest.mark.parametrize(("changes", "expected"), [({"network": 0.008}, 7.0), ({"store": 0.008 * 4}, 7.0)])
def test_bytes_take_as_long_as_the_narrower_of_network_and_store(changes: dict[str, float], expected: float) -> None:
    """7 MB in and out for a million characters, over 1 MB a second for each of four machines."""
    assert seconds(4, 4e6, **changes) == pytest.approx(3 + expected, rel=1e-2)


def test_the_driver_asks_once_for_all_that_have_finished() -> None:
    """Ten workers finish at the same time, and asking takes a second for every shard that waits."""
    assert driver_seconds([{**CALLS[0], "look": 8.0}]) == (0.0, 1.0)
    assert 120 <= seconds(10, 120e6, calls=[{**CALLS[0], "look": 8.0}]) <= 400


def test_times_of_shards_are_fitted() -> None:
    shards = [{"characters": 1e6 * size, "bytes": 3e6, "output": 4e6, "seconds": 0.5 + 2 * size} for size in SIZES]
    found = fitted({"start": 1.0, "shards": shards})
    assert (found["per_shard"], found["per_million"]) == pytest.approx((0.5, 2.0))
    assert found["spread"] == pytest.approx(0, abs=1e-9)


def test_the_simulation_does_as_the_package() -> None:
    assert (AHEAD, LEVEL) == (ray_cluster._AHEAD, files._LEVEL)
