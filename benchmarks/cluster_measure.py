"""One measurement of text at scale in a process of its own: prints a JSON object on its last line.

python -m benchmarks.cluster_measure threads MODEL FILE OUTPUT           one process with two threads
python -m benchmarks.cluster_measure local|auto MODEL FOLDER OUTPUT      two workers, by `label_files`
python -m benchmarks.cluster_measure ray-data MODEL FOLDER OUTPUT        Parquet through Ray Data's `map_batches`
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import tagweave as tw

BEGIN = time.perf_counter()
MEMORY = 200_000_000
"""Bytes of Ray's object store."""


def start_ray(memory: int = MEMORY, processors: int = 2) -> None:
    """A Ray on this machine, without a dashboard."""
    import ray

    settings: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": 50}
    ray.init("local", num_cpus=processors, object_store_memory=memory, **settings)


def by_threads(model: str, source: str, output: str) -> None:
    """One process with two threads."""
    tw.load_model(model, threads=2).label_file(source, output)


def by_workers(cluster: str, model: str, folder: str, output: str) -> None:
    """Two workers."""
    if cluster == "auto":
        start_ray()
    tw.label_files(model, folder, output, cluster=cluster, workers=2)


def by_ray_data(model: str, folder: str, output: str) -> None:
    """Ray Data: it reads blocks, calls two actors, and writes files of its own names."""
    import ray

    start_ray(10 * MEMORY)  # in a small store its back-pressure ended in a standstill: every stage waited for another
    ray.data.DataContext.get_current().enable_progress_bars = False
    little = {"num_cpus": 0.1}  # reading and writing; with whole processors they would wait for the actors for ever
    data = ray.data.read_parquet(folder, ray_remote_args=little)
    actors: dict[str, Any] = {"concurrency": 2, "num_cpus": 0.8, "batch_format": "pyarrow"}
    data = data.map_batches(_Segmenter, fn_constructor_args=(model,), **actors)
    data.write_parquet(output, ray_remote_args=little)


class _Segmenter:
    """An actor of Ray Data."""

    def __init__(self, model: str) -> None:
        self.model = tw.load_model(model)

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        texts = batch["text"].to_pylist()
        lines = [line for text in texts for line in text.splitlines()]
        words = map(" ".join, self.model.cut_all(lines))
        cells = ["\n".join(next(words) for _ in text.splitlines()) for text in texts]
        return batch.append_column("annotated", pa.array(cells))


def main() -> None:
    """The command line."""
    kind, *arguments = sys.argv[1:]
    if kind == "threads":
        by_threads(*arguments)
    elif kind == "ray-data":
        by_ray_data(*arguments)
    else:
        by_workers(kind, *arguments)
    wall = time.perf_counter() - BEGIN
    print(json.dumps({"seconds": wall, "output": str(Path(arguments[-1]))}))


if __name__ == "__main__":
    main()
