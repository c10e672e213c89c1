"""Segmenting while workers, machines and the driver are killed: nothing is lost, and nothing finished is done again.

The driver is a process of its own, of `benchmarks.cluster_kills_driver`.
"""

from __future__ import annotations

import os
import random
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

WORKERS, NODES = 20, 2
"""How often a worker and a machine are killed."""
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


def run(folder: Path, scale: float) -> dict[str, Any]:
    """Kill what works, until all shards are done; returns counts, and whether the output is the undisturbed one."""
    from ray.cluster_utils import Cluster

    model = model_of("segment", folder)
    shards = write_shards("segment", folder, MEGABYTES * scale, SHARDS)
    calm, wild, log = folder / "calm", folder / f"wild-{os.getpid()}", folder / f"log-{os.getpid()}"
    tw.label_files(model, shards[0].parent, calm, workers=2)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
    addresses = (f"127.0.0.{number}" for number in count(2))

    def machine() -> Any:
        return cluster.add_node(num_cpus=1, object_store_memory=MEMORY, node_ip_address=next(addresses))

    nodes = [machine(), machine()]
    command = [sys.executable, "-m", "benchmarks.cluster_kills_driver", cluster.address]
    command += [str(each) for each in (model, shards[0].parent, wild, log)]
    driver, chance, killed = _driver(command), random.Random(0), Counter[str]()
    plan = ["worker"] * WORKERS + ["node"] * NODES + ["driver"]
    chance.shuffle(plan)
    finished = 0
    while driver.poll() is None:
        time.sleep(chance.uniform(0.1, 1))
        workers, ends = _workers(), _counted(log)["end"]
        if not plan or not workers or ends == finished:  # workers take longer to start than a shard takes
            continue
        finished = ends
        what = plan.pop()
        if what == "worker":
            os.kill(chance.choice(workers), signal.SIGKILL)
        elif what == "node":
            cluster.remove_node(nodes.pop(chance.randrange(2)), allow_graceful=False)
            nodes.append(machine())
        else:
            os.kill(driver.pid, signal.SIGKILL)
            driver.wait()
            driver = _driver(command)
        killed[what] += 1
    lines = _counted(log)
    cluster.shutdown()
    is_same = driver.returncode == 0 and all(
        (wild / each.name).read_bytes() == (calm / each.name).read_bytes() for each in shards
    )
    return {
        **{f"{what}s killed": number for what, number in killed.items()},
        "kills that found the work done": len(plan),
        "exit code of the driver": driver.returncode,
        "shards": len(shards),
        "begun": lines["begin"],
        "computed to the end": lines["end"],
        "output identical to an undisturbed run": "yes" if is_same else "no",
    }


def _counted(log: Path) -> Counter[str]:
    """How many shards have begun, and ended."""
    return Counter(line.split()[0] for line in log.read_text("utf-8").splitlines()) if log.exists() else Counter()


def _driver(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def _workers() -> list[int]:
    """The processes that work on a shard."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if _TITLE in line]


def drive(address: str, model: str, source: str, output: str, log: str) -> None:
    """Segment a folder on the cluster of an address."""
    import ray

    # all machines are this one: without the address of the head, the driver may belong to one that is killed
    ray.init(address, _node_ip_address=address.split(":", maxsplit=1)[0], log_to_driver=False, logging_level=50)
    prepared = prepare(LoggedSegmenting(SharedFile.of(model), log), [source], output)
    with executor_at(address) as executor:
        run_shards(executor, prepared)
