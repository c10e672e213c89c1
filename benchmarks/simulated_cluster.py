"""Runs of shards on clusters, simulated event by event from measured times (`benchmarks.task_times`)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

AHEAD = 4
"""Calls that the executor gives to Ray for each worker (`tagweave.cluster.ray_cluster`)."""
LEVEL = 4
"""Of gzip, at which shards are written (`tagweave.corpus.files`)."""


@dataclass(frozen=True)
class Assumptions:
    """What was not measured, of machines and of the object store.

    Attributes:
        processors: of a machine; a shard at a time for each.
        boot: seconds until a machine takes work, on average.
        boot_spread: the deviation of its logarithm.
        network: gigabits a second of a machine.
        store: gigabits a second of the object store, to all machines together.
        requests: seconds that a shard waits for answers of the object store.
        slow: the share of machines that are slow.
        slowness: how many times as long these take.
        shard: characters of a shard, on average.
        shard_spread: the deviation of the logarithm of its size.
        price: of a machine, per hour.
    """

    processors: int = 16
    boot: float = 120.0
    boot_spread: float = 0.3
    network: float = 10.0
    store: float = 100.0
    requests: float = 0.5
    slow: float = 0.02
    slowness: float = 2.0
    shard: float = 30e6
    shard_spread: float = 0.3
    price: float = 0.9


@dataclass(frozen=True)
class Outcome:
    """A run: hours until the last shard is written, and hours of machines that are paid for until then."""

    hours: float
    machine_hours: float


def driver_seconds(calls: Sequence[Mapping[str, float]]) -> tuple[float, float]:
    """What a call costs the driver, and what it costs to ask Ray for all that wait, for each of them; seconds."""
    few, many = calls[0], calls[-1]
    return few["seconds"], many["look"] / many["waiting"]


def seconds_of_characters(task: Mapping[str, float], is_packed: bool) -> float:
    """Processor seconds for a million characters, with those of gzip on both sides if shards are packed."""
    packing = task["text_bytes"] * task["read"] + task["output_bytes"] * task[f"write_{LEVEL}"]
    return task["per_million"] + (packing if is_packed else 0.0)


def bytes_of_characters(task: Mapping[str, float], is_packed: bool) -> float:
    """Bytes over the network for a million characters, in and out."""
    text, output = (task["text_left"], task[f"output_left_{LEVEL}"]) if is_packed else (1.0, 1.0)
    return 1e6 * (task["text_bytes"] * text + task["output_bytes"] * output)


def simulate(
    task: Mapping[str, float],
    calls: Sequence[Mapping[str, float]],
    given: Assumptions,
    machines: int,
    characters: float,
    is_packed: bool = True,
    seed: int = 0,
) -> Outcome:
    """Run all shards of a text on so many machines.

    The largest shards come first. A worker takes the next shard that the driver has given out; it reads, works and
    writes in turn. The driver asks Ray twice, first for any finished shard, then for all of them, handles these, and
    gives out another shard for each.
    """
    random = np.random.default_rng(seed)
    workers, count = machines * given.processors, max(1, round(characters / given.shard))
    sizes = random.lognormal(0, given.shard_spread, count)
    sizes = np.sort(sizes / sizes.sum())[::-1] * characters / 1e6
    noise = random.lognormal(0, task["spread"], count)
    slowness = np.where(random.random(machines) < given.slow, given.slowness, 1.0)
    work = task["per_shard"] + sizes * noise * seconds_of_characters(task, is_packed)
    bandwidth = min(given.network / given.processors, given.store / min(workers, count)) * 1e9 / 8
    transfer = given.requests + sizes * bytes_of_characters(task, is_packed) / bandwidth
    ready = given.boot * random.lognormal(0, given.boot_spread, machines)
    end = _last_shard(work, transfer, ready + task["start"] * slowness, slowness, given.processors, calls)
    return Outcome(end / 3600, machines * end / 3600)


def _last_shard(
    work: np.ndarray,
    transfer: np.ndarray,
    ready: np.ndarray,
    slowness: np.ndarray,
    processors: int,
    calls: Sequence[Mapping[str, float]],
) -> float:
    """When the last shard is finished: events of workers that become free, in the order of time."""
    base, look = driver_seconds(calls)
    count, workers = len(work), len(ready) * processors
    ahead = min(count, AHEAD * workers)
    free = [(float(ready[worker // processors]), worker) for worker in range(workers)]
    heapq.heapify(free)
    begun, asked, driver, end = [False] * workers, 0.0, ahead * base, 0.0
    given_out = [(number + 1) * base for number in range(ahead)]
    for number in range(count):
        time, worker = heapq.heappop(free)
        if begun[worker] and len(given_out) < count:  # a shard is finished
            if time > asked:  # the driver has not heard of it yet
                asked = max(driver, time)
                driver = asked + 2 * look * min(AHEAD * workers, count - number)
            driver += base
            given_out.append(driver)
        begun[worker] = True
        time = max(time, given_out[number])
        finished = time + float(work[number]) * float(slowness[worker // processors]) + float(transfer[number])
        end = max(end, finished)
        heapq.heappush(free, (finished, worker))
    return end
