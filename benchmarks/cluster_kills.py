"""Segmenting while workers, machines and the driver are killed: nothing is lost, and nothing finished is done again.

The driver is a process of its own, of `benchmarks.cluster_kills_driver`.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import tagweave as tw
from benchmarks.cluster_measure import MEMORY
from benchmarks.cluster_shards import model_of, write_shards
from benchmarks.processes import ROOT
from tagweave.cluster.executor import Executor, executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.shards.run import prepare
from tagweave.shards.run import run as run_shards

WORKERS, MACHINES = 20, 2
"""How often a worker and a machine are killed."""
SEEDS = (0, 1, 2)
"""Of the order and the moments of kills."""
SHARDS, MEGABYTES = 300, 600
_TITLE = "ray::carry_out"


@dataclass(frozen=True)
class LoggedSegmenting:
    """Segments a shard, and logs when it begins and ends."""

    model: SharedFile
    log: str

    def describe(self) -> Mapping[str, Any]:
        """See `Work`."""
        return {"model": self.model.sha256}

    def shared(self, executor: Executor) -> LoggedSegmenting:
        """See `Work`."""
        return replace(self, model=executor.share(self.model))

    def carry_out(self, source: str, target: str) -> list[str]:
        """See `Work`."""
        self._write(f"begin {Path(source).name}")
        _loaded(self.model).label_file(source, target)
        self._write(f"end {Path(source).name}")
        return []

    def _write(self, line: str) -> None:
        with Path(self.log).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@lru_cache(maxsize=1)
def _loaded(model: SharedFile) -> tw.Model:
    return tw.load_model(model.local())


class SimulatedMachines:
    """A Ray cluster of two machines of one processor each, and a head that works on no shard."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
        self._addresses = (f"127.0.0.{number}" for number in count(2))
        self._machines = [self._start(), self._start()]

    def _start(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY, node_ip_address=next(self._addresses))

    def replace(self, number: int) -> None:
        """Kill a machine, and start another one."""
        self.cluster.remove_node(self._machines.pop(number), allow_graceful=False)
        self._machines.append(self._start())

    def workers(self) -> list[int]:
        """The processes that work on a shard; other programs may use a Ray of their own."""
        parents = {each.process.pid for node in self._machines for each in node.all_processes["raylet"]}
        listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        processes = (line.split(maxsplit=2) for line in listed.splitlines() if _TITLE in line)
        return [int(process) for process, parent, _ in processes if int(parent) in parents]


class Driver:
    """The process that gives shards to the cluster; what it says of errors is in a file."""

    def __init__(self, words: list[str], errors: Path) -> None:
        self.errors = errors
        self._command = [sys.executable, "-m", "benchmarks.cluster_kills_driver", *words]
        self._start()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with self.errors.open("wb") as file:
            self.process = subprocess.Popen(self._command, cwd=ROOT, env=environment, stdout=file, stderr=file)

    def replace(self) -> None:
        """Kill the process, and start it again."""
        self.process.kill()
        self.process.wait()
        self._start()


def run(folder: Path, scale: float) -> list[dict[str, Any]]:
    """Kill what works, until all shards are done, in an order of every seed; see `_disturbed`."""
    model = model_of("segment", folder)
    shards = write_shards("segment", folder, MEGABYTES * scale, SHARDS)
    calm = folder / f"calm-{scale:g}"
    tw.label_files(model, shards[0].parent, calm, workers=2)
    return [_disturbed(model, shards, calm, seed) for seed in SEEDS]


def _disturbed(model: Path, shards: list[Path], calm: Path, seed: int) -> dict[str, Any]:
    """Counts of one run, and whether the output is the undisturbed one; ends the program if the driver fails."""
    wild, log, errors = (calm.with_name(f"{name}-{seed}") for name in ("wild", "log", "errors"))
    shutil.rmtree(wild, ignore_errors=True)
    log.unlink(missing_ok=True)
    machines = SimulatedMachines()
    try:
        driver = Driver([machines.cluster.address, *map(str, (model, shards[0].parent, wild, log))], errors)
        killed = _kill(machines, driver, log, random.Random(seed))
    finally:
        machines.cluster.shutdown()
    if driver.process.returncode:
        sys.exit(f"the driver failed (seed {seed}, {dict(killed)}):\n{errors.read_text('utf-8')[-3000:]}")
    lines = _counted(log)
    is_same = all((wild / each.name).read_bytes() == (calm / each.name).read_bytes() for each in shards)
    return {
        "seed": seed,
        **{f"{what}s killed": killed[what] for what in ("worker", "machine", "driver")},
        "shards": len(shards),
        "begun": lines["begin"],
        "computed to the end": lines["end"],
        "output identical to an undisturbed run": "yes" if is_same else "no",
    }


def _kill(machines: SimulatedMachines, driver: Driver, log: Path, chance: random.Random) -> Counter[str]:
    """Kill workers, machines and the driver in random order while shards are finished; returns how many were killed."""
    plan, killed, finished = ["worker"] * WORKERS + ["machine"] * MACHINES + ["driver"], Counter[str](), 0
    chance.shuffle(plan)
    while driver.process.poll() is None:
        time.sleep(chance.uniform(0.1, 1))
        workers, ends = machines.workers(), _counted(log)["end"]
        if not plan or not workers or ends == finished:  # workers take longer to start than a shard takes
            continue
        finished, what = ends, plan.pop()
        if what == "worker":
            os.kill(chance.choice(workers), signal.SIGKILL)
        elif what == "machine":
            machines.replace(chance.randrange(2))
        else:
            driver.replace()
        killed[what] += 1
    return killed


def _counted(log: Path) -> Counter[str]:
    """How many shards have begun, and ended."""
    return Counter(line.split()[0] for line in log.read_text("utf-8").splitlines()) if log.exists() else Counter()


def drive(address: str, model: str, source: str, output: str, log: str) -> None:
    """Segment a folder on the cluster of an address."""
    import ray

    # all machines are this one: without the address of the head, the driver may belong to one that is killed
    ray.init(address, _node_ip_address=address.split(":", maxsplit=1)[0], log_to_driver=False, logging_level=50)
    prepared = prepare(LoggedSegmenting(SharedFile.of(model), log), [source], output)
    with executor_at(address) as executor:
        run_shards(executor, prepared)
