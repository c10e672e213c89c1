"""A process of `benchmarks.fuzz`: builds files of a kind, or uses mutated ones and says, line by line, how it went.

    python -m benchmarks.fuzz_child KIND FOLDER build
    python -m benchmarks.fuzz_child KIND FOLDER FIRST STOP SEED

Before every mutation it writes the number, behind it the result: where the process dies, the number stands alone.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz_bases import BASES
from benchmarks.fuzz_mutations import mutated, read, write
from tagweave.front.errors import message
from tagweave.learning.checkpoint import CheckpointError
from tagweave.models.storage import ModelFileError

_SECONDS = 10  # of the processor, for one file
_BYTES = 6 << 30
_REFUSALS = (ModelFileError, CheckpointError)


def build(kind: str, folder: Path) -> None:
    """Write the file that is mutated, and use it: a mutation must not wait for a compiler."""
    base, path = BASES[kind], folder / "base"
    base.build(path)
    mutated_path = folder / "mutated"
    mutated_path.write_bytes(path.read_bytes())
    base.use(mutated_path, 0)


def results(kind: str, folder: Path, numbers: range, seed: int) -> Iterator[list[Any]]:
    """For every mutation what it is, and then what came of it."""
    bases = [read(folder / "base", packed=number == 0) for number in range(4)]
    for number in numbers:
        rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
        *parts, what = mutated(*bases[number % 4], rng)
        yield [number, what]
        write(folder / "mutated", *parts)
        yield _used(kind, folder / "mutated", number)


def _used(kind: str, path: Path, number: int) -> list[str]:
    """The result of using a file, and what was said."""
    try:
        BASES[kind].use(path, number)
    except _REFUSALS as error:
        return ["refusals", str(error)]
    except Exception as error:
        if not isinstance(error, OSError) and (told := message(error)):
            return ["runs", told]  # an answer, as to a text that a model cannot label
        return ["tracebacks", "".join(traceback.format_exception(error)[-3:])]
    return ["runs", ""]


def main() -> None:
    kind, folder, *numbers = sys.argv[1:]
    if numbers == ["build"]:
        build(kind, Path(folder))
    else:
        first, stop, seed = map(int, numbers)
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        for line in results(kind, Path(folder), range(first, stop), seed):
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # ends the process, also inside of compiled code
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
