"""One training on many workers: `python -m benchmarks.cluster_training [batch|mixing|memory ...] [--quick]` writes
docs/results/cluster-training.md.

Sums and models of L-BFGS on People's Daily with 1, 2 and 4 workers, and the time of two against one; development scores
of mixed weights against one worker after equally many epochs; a corpus of ten times the memory of a worker.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import tagweave as tw
from benchmarks.cluster_measure import start_ray
from benchmarks.processes import DATA, publish
from reproductions.lab.corpora import all_corpora
from tagweave.cluster.executor import AUTO, LOCAL, executor_at
from tagweave.cluster.ray_cluster import RayGroup
from tagweave.cluster.shared_file import SharedFile
from tagweave.learning.run import SILENT, Iteration
from tagweave.training.chain_problem import ChainProblem
from tagweave.training.corpora import read_corpus, read_outline
from tagweave.training.fit import prepare
from tagweave.training.plan import CorpusReference
from tagweave.training.recipe import Recipe
from tagweave.training.sharded_job import CorpusPart, Shards
from tagweave.training.task import Task

CORPORA = all_corpora()
PD = CORPORA / "zh/pd199801/train.txt"
BATCH = Recipe(Task("segment"), learner="lbfgs", features="observed", precision="float64")
MIXED = {
    "zh/zx": ("segment", "txt"),
    "en/wsj": ("tag", "txt"),
    "zh/pd199801": ("segment", "txt"),
}
EPOCHS, SEEDS = 8, 3
SHARDS = (1, 2, 4)
MEGABYTES = 300  # of private memory that a process may have, in the part `memory`
NAME = "cluster-training"


@contextmanager
def problem_of(workers: int, address: str) -> Iterator[ChainProblem]:
    """People's Daily on workers."""
    _, outline = read_outline(CorpusReference(str(PD)), "segment")
    part = CorpusPart(SharedFile.of(str(PD)), outline, 0, outline.sentences)
    with (
        executor_at(address, workers) as executor,
        Shards(executor, workers, (part,)).problem(BATCH, SILENT) as it,
    ):
        yield it


def batch(address: str, iterations: int) -> dict[str, Any]:
    """Gradients and models of 1, 2 and 4 workers, and the seconds of every iteration, taken in turn."""
    if address == AUTO:  # as many processors as workers of all groups, which take turns
        start_ray(processors=sum(SHARDS))
    plain = prepare([read_corpus(str(PD), "segment", None).corpus], BATCH).objective
    weights = np.random.default_rng(0).normal(size=plain.size)
    _, expected = plain.loss_and_gradient(weights)
    with ExitStack() as stack:
        problems = {workers: stack.enter_context(problem_of(workers, address)) for workers in SHARDS}
        gradients = {w: each.objective.loss_and_gradient(weights)[1] for w, each in problems.items()}
        trainer = BATCH.trainer()
        states = {w: trainer.start(each.objective, np.zeros(plain.size)) for w, each in problems.items()}
        seconds: dict[int, list[float]] = {workers: [] for workers in SHARDS}
        driver, before = (
            dict.fromkeys(SHARDS, 0.0),
            {w: _worker_seconds(each.objective.group) for w, each in problems.items()},
        )
        for _ in range(iterations):
            for workers, each in problems.items():
                begin, used = time.perf_counter(), time.process_time()
                trainer.step(each.objective, states[workers])
                seconds[workers].append(time.perf_counter() - begin)
                driver[workers] += (time.process_time() - used) / iterations
        cpu: dict[int, Any] = {}
        for workers, each in problems.items():
            after = _worker_seconds(each.objective.group)
            slowest = max(b - a for a, b in zip(before[workers], after, strict=True)) / iterations
            cpu[workers] = {"driver": driver[workers], "worker": slowest}
    return {
        "address": address,
        "iterations": iterations,
        "to plain": _largest(gradients[1] - expected) / _largest(expected),
        "to one": {w: _largest(each - gradients[1]) / _largest(expected) for w, each in gradients.items()},
        "models": {w: _largest(each.weights - states[1].weights) for w, each in states.items()},
        "seconds": seconds,
        "cpu": cpu,
    }


def _worker_seconds(group: Any) -> list[float]:
    """The processor seconds that the processes of a group have used."""
    if isinstance(group, RayGroup):
        import ray

        return list(ray.get([actor.__ray_call__.remote(lambda _: time.process_time()) for actor in group.actors]))
    stats = (
        Path(f"/proc/{each.process.pid}/stat").read_text().rpartition(")")[2].split()
        for each in group.workers
        if each.process
    )
    return [(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") for fields in stats]


def _largest(vector: np.ndarray[Any, Any]) -> float:
    return float(np.abs(vector).max())


@dataclass
class Scores:
    """A callback that keeps development scores."""

    scores: list[float] = field(default_factory=list)

    def iteration(self, iteration: Iteration, limit: int) -> None:
        """See `Callback.iteration`."""
        self.scores.append(100 * (iteration.score or 0))


def mixing(name: str, learner: str, epochs: int, seeds: int) -> Iterator[dict[str, Any]]:
    """The best development score of each seed, with 1, 2 and 4 workers."""
    task, suffix = MIXED[name]
    train, dev = (str(CORPORA / name / f"{part}.{suffix}") for part in ("train", "dev"))
    for workers in SHARDS:
        best = []
        for seed in range(seeds):
            scores = Scores()
            settings: dict[str, Any] = {"learner": learner, "iterations": epochs, "patience": epochs, "seed": seed}
            tw.train(train, dev=dev, task=task, callback=scores, cluster=LOCAL, workers=workers, **settings)
            best.append(max(scores.scores))
        yield {"corpus": name, "task": task, "learner": learner, "workers": workers, "epochs": epochs, "best": best}


def memory(copies: int) -> dict[str, Any]:
    """A training on copies of People's Daily in processes whose private memory is limited."""
    with tempfile.TemporaryDirectory() as folder:
        few, corpus = Path(folder) / "few.txt", Path(folder) / "corpus.txt"
        few.write_text("".join(PD.read_text("utf-8").splitlines(keepends=True)[:200]), "utf-8")
        with corpus.open("wb") as file:
            for _ in range(copies):
                file.write(PD.read_bytes())
        _train(few, 1)  # compiles, which takes more than the limit
        begin, before = time.perf_counter(), _seconds_of_children()
        said = _train(corpus, 10 * copies, _limited)
        seconds, megabytes = time.perf_counter() - begin, corpus.stat().st_size / 1e6
    return {
        "copies": copies,
        "megabytes": megabytes,
        "size": next(line for line in said.splitlines() if "tokens" in line),
        "seconds": seconds,
        "cpu": _seconds_of_children() - before,
    }


def _train(corpus: Path, least: int, prepare_process: Callable[[], None] | None = None) -> str:
    """What a training on two workers says; ends the program if it fails."""
    words = ["train", str(corpus), "--task", "segment", "--learner", "lbfgs", "--features", "observed"]
    words += ["--min-count", str(least), "--iterations", "2", "--cluster", "local", "--workers", "2"]
    done = subprocess.run(
        [Path(sys.executable).with_name("tagweave"), *words, "-o", corpus.with_suffix(".model")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # it takes tens of megabytes for every thread
        preexec_fn=prepare_process,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stderr


def _seconds_of_children() -> float:
    """Processor seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _limited() -> None:
    """Limit the private memory of this process and of those it starts; stacks of threads count as well."""
    for limit, size in ((resource.RLIMIT_STACK, 1 << 20), (resource.RLIMIT_DATA, MEGABYTES << 20)):
        resource.setrlimit(limit, (size, size))


def page(numbers: dict[str, Any]) -> list[str]:
    """The results as a page."""
    lines = ["# One training on many workers", ""]
    lines += [f"Measured on {platform.machine()} with {os.cpu_count()} processors, which other programs used as well."]
    if "batch" in numbers:
        lines += ["", "## L-BFGS on People's Daily", "", *_batch_lines(numbers["batch"])]
    if "mixing" in numbers:
        lines += ["", "## Mixed weights", "", *_mixing_lines(numbers["mixing"])]
    if "memory" in numbers:
        lines += ["", "## A corpus larger than memory", "", *_memory_lines(numbers["memory"])]
    return [*lines, ""]


def _batch_lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "`python -m benchmarks.cluster_training batch`: segmentation, observed features, float64. Iterations of 1, 2",
        "and 4 workers were taken in turn. The gradient is at random weights; differences are relative to its largest",
        "entry. Seconds are the median of an iteration by the clock, and the least; processor seconds those of the",
        "driver and of the slowest worker, which follow one another.",
        "",
        "| | |",
        "| --- | --- |",
    ]
    for row in rows:
        one, two = (row["seconds"][w][1:] for w in ("1", "2"))
        ratios = np.median(one) / np.median(two), min(one) / min(two)
        same, models = (" and ".join(f"{row[key][w]:.1e}" for w in ("2", "4")) for key in ("to one", "models"))
        times = (f"{np.median(each):.3f} ({min(each):.3f})" for each in (one, two))
        lines += [
            f"| workers | {row['address']} |",
            f"| gradient, one worker and none | {row['to plain']:.1e} |",
            f"| gradient, 2 and 4 workers and one | {same} |",
            f"| weights after {row['iterations']} iterations, 2 and 4 workers and one | {models} |",
            f"| seconds of 1 and of 2 workers | {' and '.join(times)} |",
            f"| times as fast | {ratios[0]:.2f} ({ratios[1]:.2f}) |",
        ]
        alone, shared = row["cpu"]["1"], row["cpu"]["2"]
        seconds = (f"{each['driver']:.3f} + {each['worker']:.3f}" for each in (alone, shared))
        lines += [
            f"| processor seconds of 1 and of 2 workers | {' and '.join(seconds)} |",
            f"| times as fast by processor seconds | {sum(alone.values()) / sum(shared.values()):.2f} |",
        ]
    return lines


def _mixing_lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "`python -m benchmarks.cluster_training mixing`: the best development score of",
        f"{rows[0]['epochs']} epochs, the mean of the seeds, and their range.",
        "",
        "| corpus | task | learner | workers | seeds | score | range | to one worker |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        one = next(r for r in rows if (r["corpus"], r["learner"], r["workers"]) == (row["corpus"], row["learner"], 1))
        score, usual = (fmean(each["best"]) for each in (row, one))
        where = f"| {row['corpus']} | {row['task']} | {row['learner']} | {row['workers']}"
        seeds = f"{len(row['best'])} | {score:.2f} | {min(row['best']):.2f} to {max(row['best']):.2f}"
        lines.append(f"{where} | {seeds} | {score - usual:+.2f} |")
    return lines


def _memory_lines(row: dict[str, Any]) -> list[str]:
    return [
        f"`python -m benchmarks.cluster_training memory`: {row['copies']} copies of People's Daily,",
        f"{row['megabytes']:,.0f} MB of text, on two workers:",
        f"{row['size']}.",
        f"No process may have more than {MEGABYTES} MB of private memory (`RLIMIT_DATA`), once what it needs is",
        "compiled; encoded sentences take 37 bytes a character.",
        "Two iterations of L-BFGS, with the time of reading the text three times:",
        f"{row['seconds']:,.0f} s, {row['cpu']:,.0f} s of processors.",
    ]


def main() -> None:
    """Run the parts that are asked for, and keep the numbers of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", default=["batch", "mixing", "memory"], choices=["batch", "mixing", "memory"]
    )
    parser.add_argument("--address", action="append", help="of a cluster for `batch` (repeatable); default: local")
    parser.add_argument("--quick", action="store_true", help="few iterations, and no page")
    asked = parser.parse_args()
    numbers: dict[str, Any] = {}
    if "batch" in asked.parts:
        numbers["batch"] = [batch(each, 3 if asked.quick else 30) for each in asked.address or [LOCAL]]
        _publish(numbers, asked.quick)
    if "mixing" in asked.parts:
        numbers["mixing"] = []
        for name in ["en/wsj"] if asked.quick else MIXED:
            for learner in ("adagrad", "perceptron"):
                numbers["mixing"] += mixing(name, learner, *((2, 1) if asked.quick else (EPOCHS, SEEDS)))
                _publish(numbers, asked.quick)
    if "memory" in asked.parts:
        numbers["memory"] = memory(2 if asked.quick else 8)
        _publish(numbers, asked.quick)


def _publish(numbers: dict[str, Any], quick: bool) -> None:
    """Write the page with these parts and, of other parts and addresses, what was measured before."""
    stored = DATA / f"{NAME}.json"
    others = json.loads(stored.read_text()) if stored.exists() and not quick else {}
    together = others | json.loads(json.dumps(numbers))
    if "batch" in numbers:
        addresses = {row["address"] for row in numbers["batch"]}
        kept = [row for row in others.get("batch", []) if row["address"] not in addresses]
        together["batch"] = kept + together["batch"]
    publish(NAME, page(together), together, quick)


if __name__ == "__main__":
    main()
