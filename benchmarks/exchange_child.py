"""A process that imports files, each in a process of its own, and says what that took: time and the most memory.

    python -m benchmarks.exchange_child

It reads lines of JSON, [TOOL, PATH] (without a tool, a corpus format by its extension), and answers each with [RESULT,
SAID, MEGABYTES, SECONDS]. The libraries are there before the first file, so a file takes what it takes itself.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import NamedTuple

from benchmarks.processes import ROOT

_SECONDS = 30  # of the processor, after which a process is ended
_BYTES = 6 << 30
_LIBRARIES = (
    "tagweave.front.exchange",
    "tagweave.exchange.exports",
    "tagweave.corpus.load",
)
_OTHERS = ("pyarrow.parquet", "pyarrow.ipc", "pyarrow.compute", "spacy.tokens", "srsly.msgpack")


class Taken(NamedTuple):
    """What became of a file: `read`, `refused`, the name of an exception or of a signal; and what it took."""

    result: str
    said: str
    megabytes: float
    seconds: float


class Child:
    """The process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, tool: str, path: str) -> Taken:
        """Import a file there."""
        print(json.dumps([tool, path]), file=self._process.stdin, flush=True)
        return Taken(*json.loads(self._process.stdout.readline()))  # type: ignore[union-attr]


@contextmanager
def child() -> Iterator[Child]:
    """Return the process, which ends with the block."""
    words = [sys.executable, "-W", "ignore", "-m", "benchmarks.exchange_child"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Child(process)
        finally:
            process.kill()


def _read(tool: str, path: str) -> tuple[str, str]:
    import tagweave as tw
    from tagweave.errors import is_for_users
    from tagweave.exchange.exports import TOOLS

    how = {"misaligned": "unknown"} if tool in TOOLS else {}
    try:
        found = tw.read_documents(tool, path, tell=lambda _: None, **how) if tool else tw.load(path)
    except BaseException as error:
        return ("refused" if is_for_users(error) else type(error).__name__), str(error)
    return "read", f"{len(found)} sentences"


def _measured(tool: str, path: str) -> Taken:
    """Import a file in a fork."""
    answers, answer = os.pipe()
    number = os.fork()
    if not number:
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        os.write(answer, json.dumps(_read(tool, path)).encode())
        os._exit(0)
    os.close(answer)
    with os.fdopen(answers, "rb") as stream:
        said = stream.read()
    _, status, usage = os.wait4(number, 0)
    result, told = json.loads(said) if said else (signal.Signals(os.WTERMSIG(status)).name, "")
    return Taken(result, told, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def main() -> None:
    for name in (*_LIBRARIES, *_OTHERS):
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        print(json.dumps(_measured(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
