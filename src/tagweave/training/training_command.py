"""The command that trains a model. Only one runs in a folder at a time, even if the process that started it dies.

The command holds a lock file as long as it lives. If its parent was killed, the next parent finds the lock held, kills
the process whose number is in the file, and continues alone.
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

from tagweave.corpus.whole_file import remove_left, whole_file

ANNOTATED, MODEL = "{annotated}", "{model}"
"""Placeholders in a command for the files of the partial corpus and of the new model."""

_LOCK = "training.lock"
_PAUSE = 0.1  # seconds


def run(command: Sequence[str], annotated: Path, model: Path, is_wanted: Callable[[], bool]) -> None:
    """Run a command; the model file appears under its name once it is complete.

    Args:
        command: words, which may contain `ANNOTATED` and `MODEL`; they are not passed to a shell.
        annotated, model: these files. The output of the command goes to the model's name with `.log`.
        is_wanted: polled; when it returns False, the command and this process end.

    Raises:
        subprocess.CalledProcessError: the command failed.
        OSError: there is no such program, or a file cannot be written.
    """
    with model.with_suffix(".log").open("wb") as log, alone(model.parent) as lock, whole_file(model) as part:
        part.unlink()  # a command that writes no model has failed
        words = [word.replace(ANNOTATED, str(annotated)).replace(MODEL, str(part)) for word in command]
        with _running(words, log, lock) as process:
            while process.poll() is None:
                if not is_wanted():
                    sys.exit(0)
                time.sleep(_PAUSE)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)


def take(path: Path) -> IO[str] | None:
    """Lock a file until it is closed and all processes that inherited it have ended; `None` if others hold the lock.

    Raises:
        OSError: the system has no such locks.
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
    """Hold the lock of a folder, after killing a command that was left behind there."""
    path = folder / _LOCK
    while (lock := take(path)) is None:
        if (number := path.read_text("ascii")).isdigit():  # otherwise the command is just being started
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        time.sleep(_PAUSE)
    with lock:
        lock.truncate(0)
        remove_left(folder)
        yield lock


@contextmanager
def _running(words: list[str], log: IO[bytes], lock: IO[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that does not outlive the block, and does not receive Ctrl-C."""
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
