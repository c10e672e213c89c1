"""One measurement of what a worker or the driver of a cluster does: prints a JSON object on its last line.

python -m benchmarks.task_times_measure prepare TASK FOLDER --characters N    a model, and shards of about N characters
python -m benchmarks.task_times_measure label TASK FOLDER                     the shards through the model
python -m benchmarks.task_times_measure compression TASK FOLDER               a shard and its output through gzip
python -m benchmarks.task_times_measure calls TASK FOLDER --waiting N         empty calls through Ray, N given at a time

Times are of the processor, user and system, one thread, unless they are called `wall`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
import zlib
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.characters import corpora_folder, tagged_words
from benchmarks.simulated_cluster import LEVEL
from benchmarks.treebanks import TRAIN, without_trees

SIZES = (0.25, 0.5, *[1.0] * 8, 2.0, 4.0)
"""The sizes of the shards; many are equal, to see how much their times differ."""
CHARACTERS = {"segment": 3_000_000, "tag": 500_000, "parse": 100_000}
"""Of a shard of size 1, by task."""
_FORMATS = {"segment": "raw", "tag": "segmented", "parse": "conllu"}
_ITERATIONS = 2  # weights do not matter here, only how many there are
_CALLS = 4000
LEVELS = (1, LEVEL, 6, 9)

_DAILY = ("zh", "pd199801", "train.txt")
_TREEBANK = ("zh", "udc", TRAIN)


def _sentences(task: str) -> list[tuple[int, str]]:
    """The sentences of a task as text, with the number of characters that each has."""
    if task == "parse":
        text = corpora_folder().joinpath(*_TREEBANK).read_text(encoding="utf-8")
        return [(_characters_of_rows(rows), without_trees(rows) + "\n\n") for rows in text.strip().split("\n\n")]
    blank = "" if task == "segment" else " "
    lines = tagged_words(corpora_folder().joinpath(*_DAILY), "/")
    return [(len("".join(words)), blank.join(words) + "\n") for words in lines]


def _characters_of_rows(rows: str) -> int:
    words = (line.split("\t") for line in rows.splitlines() if not line.startswith("#"))
    return sum(len(fields[1]) for fields in words if fields[0].isdecimal())


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-*.txt"))


def prepare(task: str, folder: Path, characters: int) -> dict[str, Any]:
    """Train a model for two iterations, and write shards of shuffled sentences."""
    from tagweave.front.training import train

    corpus = corpora_folder().joinpath(*(_TREEBANK if task == "parse" else _DAILY))
    model = train(str(corpus), task=task, iterations=_ITERATIONS, callback=_Silent())
    model.save(folder / "model")
    sentences = _sentences(task)
    random.Random(0).shuffle(sentences)
    endless = cycle(sentences)
    counts = {}
    for number, size in enumerate(SIZES):
        path = folder / f"shard-{number:02}.txt"
        with path.open("w", encoding="utf-8") as file:
            counts[path.name] = 0
            while counts[path.name] < size * characters:
                count, text = next(endless)
                file.write(text)
                counts[path.name] += count
    (folder / "first.txt").write_text("".join(text for _, text in islice(endless, 20)), encoding="utf-8")
    (folder / "characters.json").write_text(json.dumps(counts), encoding="utf-8")
    return {"model_megabytes": (folder / "model").stat().st_size / 1e6}


class _Silent:
    def iteration(self, _iteration: object, _limit: int) -> None:
        pass


def label(task: str, folder: Path) -> dict[str, Any]:
    """Start, as a worker does, to the end of a first text of a few lines; then every shard."""
    from tagweave.front.model import load_model

    model = load_model(str(folder / "model"), 1)
    form = _FORMATS[task]
    model.label_file(folder / "first.txt", folder / "out", format=form)
    start = time.process_time()  # since the process began
    counts = json.loads((folder / "characters.json").read_text(encoding="utf-8"))
    shards = []
    for path in _shards(folder):
        begin = time.process_time()
        model.label_file(path, folder / f"{path.stem}.out", format=form)
        seconds = time.process_time() - begin
        sizes = (path.stat().st_size, (folder / f"{path.stem}.out").stat().st_size)
        shards.append({"characters": counts[path.name], "bytes": sizes[0], "output": sizes[1], "seconds": seconds})
    return {"start": start, "shards": shards}


def compression(_task: str, folder: Path) -> dict[str, Any]:
    """Seconds for a million bytes of plain text through gzip and back, and how much of it is left."""
    text, output = (folder / "shard-00.txt").read_bytes(), (folder / "shard-00.out").read_bytes()
    packed = gzip.compress(text, 6)
    found: dict[str, Any] = {
        "text_left": len(packed) / len(text),
        "read": _seconds(lambda: gzip.decompress(packed)) / len(text) * 1e6,
    }
    for level in LEVELS:
        found[f"output_left_{level}"] = len(zlib.compress(output, level)) / len(output)
        found[f"write_{level}"] = _seconds(lambda level=level: zlib.compress(output, level)) / len(output) * 1e6
    return found


def _seconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return min(times)


def calls(_task: str, _folder: Path, waiting: int) -> dict[str, Any]:
    """What the start of Ray takes, every call of a function that does nothing, and asking for all that wait."""
    import ray

    from tagweave.cluster.executor import attempt
    from tagweave.cluster.ray_cluster import RayCluster

    begin = time.perf_counter()
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False)
    started = time.perf_counter() - begin
    cluster, number = RayCluster(waiting, 1), max(_CALLS, 2 * waiting)
    list(cluster.outcomes(abs, range(2)))  # workers start
    wall, begin = time.perf_counter(), time.process_time()
    for _ in cluster.outcomes(abs, range(number)):
        pass
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    asleep = [ray.remote(attempt).remote(time.sleep, 600) for _ in range(waiting)]
    look = _seconds(lambda: ray.wait(asleep, num_returns=waiting, timeout=0))
    ray.shutdown()
    return {
        "waiting": waiting,
        "start_wall": started,
        "seconds": seconds / number,
        "wall": wall / number,
        "look": look,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["prepare", "label", "compression", "calls"])
    parser.add_argument("task", choices=list(CHARACTERS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--characters", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=8)
    options = parser.parse_args()
    if options.what == "prepare":
        result = prepare(options.task, options.folder, options.characters)
    elif options.what == "calls":
        result = calls(options.task, options.folder, options.waiting)
    else:
        result = {"label": label, "compression": compression}[options.what](options.task, options.folder)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
