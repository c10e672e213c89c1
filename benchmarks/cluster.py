"""Text at scale: `python -m benchmarks.cluster [rates|kills|parquet ...] [--quick]` writes docs/results/cluster.md.

Two workers on two processors against one process with two threads; workers, machines and the driver killed; Parquet by
plain tasks and by Ray Data. The start-up of each way is the time of a run over two files of one line.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import cluster_kills
from benchmarks.cluster_shards import model_of, same, write_shards
from benchmarks.processes import DATA, measured, publish

measure = partial(measured, "cluster_measure")

WAYS = {"threads": "one process, 2 threads", "local": "2 processes", "auto": "2 Ray workers"}
MEGABYTES = {"segment": 500, "tag": 50, "parse": 50}
SHARDS = 50
REPEATS = 2
"""How often each way is timed, in turn; the least time counts."""


def rates(folder: Path, scale: float) -> list[dict[str, Any]]:
    """For every task the time of each way, and whether all give the same bytes."""
    rows = []
    for task, megabytes in MEGABYTES.items():
        model = str(model_of(task, folder))
        shards = write_shards(task, folder, megabytes * scale, SHARDS)
        tiny = write_shards(task, folder, 1e-5, 2)
        whole, first = folder / f"whole{shards[0].suffix}", folder / f"first{shards[0].suffix}"
        _concatenate(shards, whole)
        _concatenate(tiny[:1], first)
        size = whole.stat().st_size / 1e6
        times: dict[str, list[float]] = {way: [] for way in WAYS}
        for way in [*WAYS] * REPEATS:
            times[way].append(
                _timed(way, model, whole if way == "threads" else shards[0].parent, folder / f"out-{way}")
            )
        for way, name in WAYS.items():
            output = folder / f"out-{way}"
            is_same = way == "threads" or same([output / each.name for each in shards], folder / "out-threads")
            start = _timed(way, model, first if way == "threads" else tiny[0].parent, folder / f"first-{way}")
            row = {"task": task, "way": name, "megabytes": size, "start": start, "seconds": min(times[way])}
            rows.append({**row, "times": times[way], "same": is_same})
    return rows


def parquet(folder: Path, scale: float) -> list[dict[str, Any]]:
    """Segmenting a folder of Parquet files by plain tasks, and by Ray Data."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = folder / "parquet"
    tables.mkdir(exist_ok=True)
    for shard in write_shards("segment", folder, 100 * scale, 20):
        lines = shard.read_text(encoding="utf-8").splitlines()
        texts = ["\n".join(lines[at : at + 10]) for at in range(0, len(lines), 10)]
        pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), tables / f"{shard.stem}.parquet")
    model, rows = str(model_of("segment", folder)), []
    for way, name in (("auto", "plain tasks, a file each"), ("ray-data", "Ray Data, map_batches")):
        seconds = _timed(way, model, tables, folder / f"tables-{way}")
        table = pq.read_table(folder / f"tables-{way}", columns=["id", "annotated"])
        rows.append({"way": name, "seconds": seconds, "rows": table.num_rows})
    return rows


def _timed(way: str, model: str, source: Path, output: Path) -> float:
    if output.is_dir():
        shutil.rmtree(output)
    return float(measure(way, model, str(source), str(output))["seconds"])


def _concatenate(paths: list[Path], whole: Path) -> None:
    with whole.open("wb") as file:
        for path in paths:
            file.write(path.read_bytes())


def page(numbers: dict[str, Any]) -> list[str]:
    """The page of results."""
    lines = ["# Text at scale", "", f"Python {platform.python_version()}, {platform.machine()}, two processors."]
    if rows := numbers.get("rates"):
        lines += ["", "## Two workers against two threads", "", "`python -m benchmarks.cluster rates`", ""]
        lines += ["| task | MB | way | start-up, s | MB/s after start-up | of the rate of threads | same bytes |"]
        lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
        speeds = {(row["task"], row["way"]): row["megabytes"] / (row["seconds"] - row["start"]) for row in rows}
        for row in rows:
            speed, base = speeds[row["task"], row["way"]], speeds[row["task"], WAYS["threads"]]
            lines.append(
                f"| {row['task']} | {row['megabytes']:.0f} | {row['way']} | {row['start']:.1f} | {speed:.2f} |"
                f" {speed / base:.2f} | {'yes' if row['same'] else 'no'} |"
            )
    if rows := numbers.get("kills"):
        lines += ["", "## Killed workers, machines and drivers", "", "`python -m benchmarks.cluster kills`", ""]
        lines += ["Two simulated machines of one processor each, `kill -9` in random order, a run for every seed.", ""]
        head, *names = rows[0]
        lines += [f"| {head} | {' | '.join(str(row[head]) for row in rows)} |", "| --- |" + " --- |" * len(rows)]
        lines += [f"| {name} | {' | '.join(str(row[name]) for row in rows)} |" for name in names]
    if rows := numbers.get("parquet"):
        lines += ["", "## Parquet", "", "`python -m benchmarks.cluster parquet`", "", "| way | s | rows |"]
        lines += ["| --- | --- | --- |"]
        lines += [f"| {row['way']} | {row['seconds']:.1f} | {row['rows']:,} |" for row in rows]
    return [*lines, ""]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"rates": rates, "kills": cluster_kills.run, "parquet": parquet}
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to measure; default: all")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the text, and nothing written")
    parser.add_argument("--folder", help="where texts and models are kept for the next run; default: a temporary one")
    options = parser.parse_args()
    numbers = _before() if options.parts and not options.quick else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.parts or parts:
            numbers[name] = parts[name](folder, 0.01 if options.quick else 1.0)
    publish("cluster", page(numbers), numbers, options.quick)


def _before() -> dict[str, Any]:
    """The numbers of an earlier run, of which some parts are measured again."""
    import json

    path = DATA / "cluster.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


if __name__ == "__main__":
    main()
