"""A server in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tagweave.kernels import compiled_code

PROGRAM = (sys.executable, "-m", "tagweave")


class Server(NamedTuple):
    """The process, its address, and what it said before."""

    process: subprocess.Popen[str]
    address: str
    said: list[str]


@contextmanager
def served(*words: object) -> Iterator[Server]:
    """A command that serves, killed at the end."""
    command = [*PROGRAM, *map(str, words), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    said: list[str] = []
    try:
        while not (said and said[-1].startswith("http://")):
            said.append(process.stderr.readline())
            assert said[-1], said
        yield Server(process, said[-1].strip(), [line for line in said[:-1] if compiled_code.COMPILING not in line])
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def serving(*options: object) -> Iterator[Server]:
    """An annotation server; it ends by Ctrl-C, unless it has been killed before."""
    with served("annotate", "serve", *options) as server:
        yield server
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGINT)
            assert server.process.stderr
            assert server.process.wait(60) in (0, 130), server.process.stderr.read()
