"""What a worker and the driver of a cluster take: `python -m benchmarks.task_times [--quick]`."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks.processes import measured, publish
from benchmarks.task_times_measure import CHARACTERS, LEVELS, SIZES

WAITING = (8, 1000, 10_000)
"""How many calls Ray is given at a time."""
REPEATS = 3
"""How often calls are timed; the least of each time counts, since Ray's processes disturb one another."""

measure = partial(measured, "task_times_measure")


def run(quick: bool) -> dict[str, Any]:
    """The times of every task, and those of calls."""
    waiting = WAITING[:1] if quick else WAITING
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name, Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("task times", total=4 * len(CHARACTERS) + len(waiting))
        tasks = {}
        for task, characters in CHARACTERS.items():
            folder = Path(name, task)
            folder.mkdir()
            steps = []
            prepared = ("prepare", task, str(folder), "--characters", str(characters // 100 if quick else characters))
            for words in (prepared, ("label", task, str(folder)), ("label", task, str(folder))):  # the first compiles
                steps.append(measure(*words))
                progress.advance(bar)
            tasks[task] = {**steps[0], **fitted(steps[-1]), **measure("compression", task, str(folder))}
            progress.advance(bar)
        calls = []
        for number in waiting:
            runs = [measure("calls", "tag", name, "--waiting", str(number)) for _ in range(REPEATS)]
            calls.append({key: min(run[key] for run in runs) for key in runs[0]})
            progress.advance(bar)
    return {"tasks": tasks, "calls": calls, "load": load}


def fitted(label: dict[str, Any]) -> dict[str, float]:
    """Seconds of a shard as so many for any shard and so many for a million characters, and how far shards are off."""
    shards = label["shards"]
    millions = np.array([shard["characters"] for shard in shards]) / 1e6
    seconds = np.array([shard["seconds"] for shard in shards])
    design = np.stack([np.ones_like(millions), millions], 1) / seconds[:, None]  # errors grow with the time
    per_shard, per_million = np.linalg.lstsq(design, np.ones_like(seconds), rcond=None)[0]
    equal = seconds[[at for at, size in enumerate(SIZES) if size == 1]]
    total = sum(shard["characters"] for shard in shards)
    return {
        "start": label["start"],
        "per_shard": max(0.0, float(per_shard)),
        "per_million": float(per_million),
        "spread": float(equal.std(ddof=1) / equal.mean()),
        "text_bytes": sum(shard["bytes"] for shard in shards) / total,
        "output_bytes": sum(shard["output"] for shard in shards) / total,
    }


COLUMNS = {
    "million characters": ("per_million", "{:.3f}"),
    "shard, of any size": ("per_shard", "{:.2f}"),
    "start of a worker": ("start", "{:.1f}"),
    "spread of equal shards": ("spread", "{:.0%}"),
    "bytes read a character": ("text_bytes", "{:.1f}"),
    "written": ("output_bytes", "{:.1f}"),
    "model, MB": ("model_megabytes", "{:.1f}"),
}
"""The heads of the columns; of each the number, and its form."""


def _table(rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""]


def page(found: dict[str, Any]) -> list[str]:
    """The lines of the page."""
    tasks = found["tasks"]
    times = [["task", *COLUMNS]]
    times += [[task, *(form.format(one[key]) for key, form in COLUMNS.values())] for task, one in tasks.items()]
    packed = [["task", "text left", "reading", *(f"writing, level {n}" for n in LEVELS)]]
    for task, one in tasks.items():
        keys = [
            f"{each} ({one[f'output_left_{n}']:.0%} left)" for n in LEVELS for each in (f"{one[f'write_{n}']:.3f}",)
        ]
        packed.append([task, f"{one['text_left']:.0%}", f"{one['read']:.3f}", *keys])
    calls = [["calls given at a time", "driver, ms a call", "by the clock", "asking for all, ms", "start of Ray, s"]]
    for one in found["calls"]:
        numbers = (f"{1e3 * one[key]:.2f}" for key in ("seconds", "wall", "look"))
        calls.append([f"{one['waiting']:,}", *numbers, f"{one['start_wall']:.1f}"])
    return [
        "# Times of tasks",
        "",
        f"Written by `python -m benchmarks.task_times` ({platform.machine()}, Python {platform.python_version()}),",
        "for [scale](../scale.md). Seconds are of the processor, one thread, unless they are by the clock. Models are",
        "trained for two iterations, since weights do not matter here: a segmenter of raw text and a tagger of",
        "segmented text on the People's Daily, a parser of CoNLL-U with tags on UD Chinese (2017). Shards are shuffled",
        "sentences of their training data, in plain files. The time of a shard is a line fitted to those of twelve",
        f"shards of {SIZES[0]:g} to {SIZES[-1]:g} times a size; the spread is the standard deviation of eight of equal",
        "size. A start is the interpreter, the imports, the model, and a few lines. When the run began, the load of",
        f"the machine, of {os.cpu_count()} processors, was {found['load']:.1f}.",
        "",
        *_table(times),
        "Seconds for a million bytes of plain text through gzip, and how much is left of them:",
        "",
        *_table(packed),
        "Calls of a function that does nothing, on a Ray of two processors that is started for them; the least of",
        f"{REPEATS} runs:",
        "",
        *_table(calls),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small shards and few calls, nothing written")
    options = parser.parse_args()
    found = run(options.quick)
    publish("task-times", page(found), found, options.quick)


if __name__ == "__main__":
    main()
