"""Mutate models and checkpoints of every kind, and see that each is used or refused: `python -m benchmarks.fuzz`.

Arrays, numbers, texts, lists and sizes are changed and the digest is made right again, as somebody would who wants to
do harm. What is expected of each file is a correct run, or a refusal: `ModelFileError`, `CheckpointError`. Everything
else is counted too: tracebacks, processes that die, files that take ten seconds of the processor, and those that run
with more than a gigabyte of memory. The program ends with exit code 1 where there was any such thing.

Each file is used in a process of its own, forked from one that has compiled everything, whose peak memory and time of
the processor are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz_bases import BASES, FOREIGN
from benchmarks.fuzz_mutations import mutated, mutated_bytes, read, write
from tagweave.front.options import message
from tagweave.learning.loop import CheckpointError
from tagweave.models.storage import ModelFileError

RESULTS = ("runs", "refusals", "tracebacks", "deaths", "time-outs", "large")
FAULTS = RESULTS[2:]
KINDS = tuple(BASES)
_SECONDS = 10  # of the processor, for one file
_BYTES = 6 << 30
_LARGE = 1_000_000_000  # bytes, which no file of some kilobytes should take
_REFUSALS = (ModelFileError, CheckpointError)


def build(kind: str, folder: Path) -> None:
    """Write the file that is mutated, and use it: a mutation must not wait for a compiler."""
    base, path = BASES[kind], folder / "base"
    base.build(path)
    mutated_path = folder / "mutated"
    mutated_path.write_bytes(path.read_bytes())
    base.use(mutated_path, 0)


def results(
    kind: str, folder: Path, numbers: range, seed: int, use: Callable[[str, Path, int], list[Any]]
) -> Iterator[list[Any]]:
    """For every mutation what it is, and then what came of it."""
    base, path = folder / "base", folder / "mutated"
    is_foreign = kind in FOREIGN
    bases = [] if is_foreign else [read(base, packed=number == 0) for number in range(4)]
    for number in numbers:
        rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
        if is_foreign:
            data, what = mutated_bytes(base.read_bytes(), rng)
            path.write_bytes(data)
        else:
            *parts, what = mutated(*bases[number % 4], rng)
            write(path, *parts)
        yield [number, what]
        yield use(kind, path, number)


def measured(kind: str, path: Path, number: int) -> list[Any]:
    """The result of using a file in a process of its own, what was said, the peak of its memory and its seconds."""
    result, *rest = measured_call(lambda: used(kind, path, number))
    return ["large" if result == "runs" and rest[1] * 1_000_000 > _LARGE else result, *rest]


def measured_call(call: Callable[[], list[Any]]) -> list[Any]:
    """The two values of a call in a process of its own, the peak of its memory in megabytes and its seconds."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # ends the process, also inside of compiled code
        os.write(writing, json.dumps(call()).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        said = stream.read()
    _, status, usage = os.wait4(process, 0)
    sent = os.WTERMSIG(status)
    died = "time-outs" if sent == signal.SIGPROF else "deaths"
    result, what = json.loads(said) if said else [died, f"signal {sent}"]
    return [result, what, round(usage.ru_maxrss * 1024 / 1e6), round(usage.ru_utime + usage.ru_stime, 2)]


def used(kind: str, path: Path, number: int) -> list[Any]:
    """The result of using a file, and what was said."""
    try:
        BASES[kind].use(path, number)
    except _REFUSALS as error:
        return ["refusals", str(error)[:1000]]
    except Exception as error:
        if not isinstance(error, OSError) and (told := message(error)):
            return ["runs", told[:1000]]  # an answer, as to a text that a model cannot label
        return ["tracebacks", "".join(traceback.format_exception(error)[-3:])]
    return ["runs", ""]


def fuzz(kind: str, mutations: int, seed: int = 0) -> list[list[Any]]:
    """Return of every mutation of a kind of file what it is, its result, what was said, megabytes and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        build(kind, Path(folder))
        lines = list(results(kind, Path(folder), range(mutations), seed, measured))
    return [[what, *result] for (_, what), result in zip(lines[::2], lines[1::2], strict=True)]


def _row(told: list[list[Any]]) -> str:
    counts = Counter(result for _, result, *_ in told)
    cells = " | ".join(f"{counts[each]:,}" for each in RESULTS)
    return f"{len(told):,} | {cells} | {max(each[-2] for each in told):,} | {max(each[-1] for each in told):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000, help="of every kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this one (repeatable)")
    options = parser.parse_args()
    everything: list[list[Any]] = []
    print(f"| kind | mutations | {' | '.join(RESULTS)} | most MB | most s |\n|{'---|' * (len(RESULTS) + 4)}")
    for kind in options.kind or KINDS:
        told = fuzz(kind, options.mutations, options.seed)
        print(f"| {kind} | {_row(told)}", flush=True)
        everything += told
        for what, result, said, *_ in told:
            if result in FAULTS:
                print(f"{kind}: {what}: {result}: {said}", file=sys.stderr)
    print(f"| all | {_row(everything)}")
    sys.exit(any(result in FAULTS for _, result, *_ in everything))


if __name__ == "__main__":
    main()
