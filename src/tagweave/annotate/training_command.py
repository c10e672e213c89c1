"""The command that trains a model: run once at a time in a folder, whatever becomes of who started it.

It holds a lock file as long as it lives. Where whoever started it was killed, the next one finds the file held, ends
the process whose number is in it, and goes on alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

ANNOTATED, MODEL = "{annotated}", "{model}"
"""What stands in a command for the files of the partial corpus and of the new model."""

_LOCK = "training.lock"
_PAUSE = 0.1  # seconds


def run(command: Sequence[str], annotated: Path, model: Path, is_wanted: Callable[[], bool]) -> None:
    """Run a command; the model appears under its name when it is whole.

    Args:
        command: words, which may contain `ANNOTATED` and `MODEL`; no shell sees them.
        annotated, model: these files. What the command says goes to the model's name with `.log`.
        is_wanted: the command is ended, and this process with it, when it no longer is.

    Raises:
        subprocess.CalledProcessError: the command failed.
        OSError: there is no such program, or a file cannot be written.
    """
    part = model.with_name(f"{model.stem}.new{model.suffix}")
    words = [word.replace(ANNOTATED, str(annotated)).replace(MODEL, str(part)) for word in command]
    with (
        model.with_suffix(".log").open("wb") as log,
        alone(model.parent) as lock,
        _running(words, log, lock) as process,
    ):
        while process.poll() is None:
            if not is_wanted():
                sys.exit(0)
            time.sleep(_PAUSE)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    part.replace(model)


def take(path: Path) -> IO[str] | None:
    """A file that is ours until it is closed and all processes have ended that inherited it; `None`: it is theirs.

    Raises:
        OSError: a system without such locks.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError(
            "found no fcntl, expected a system with its locks: training beside the server needs them"
        ) from error
    file = path.open("a+", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def alone(folder: Path) -> Iterator[IO[str]]:
    """Hold the lock of a folder, after an end of the command that somebody left behind there."""
    path = folder / _LOCK
    while (lock := take(path)) is None:
        if (left := path.read_text("ascii")).isdigit():  # else it is just being started
            with suppress(ProcessLookupError):
                os.kill(int(left), signal.SIGKILL)
        time.sleep(_PAUSE)
    with lock:
        lock.truncate(0)
        yield lock


@contextmanager
def _running(words: list[str], log: IO[bytes], lock: IO[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that does not outlive the block, and that Ctrl-C is not for."""
    process = subprocess.Popen(  # noqa: S603  # no shell
        words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[lock.fileno()], start_new_session=True
    )
    try:
        lock.write(str(process.pid))
        lock.flush()
        yield process
    finally:
        process.kill()
        process.wait()
