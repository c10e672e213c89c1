"""Work on many files without a model, importable by other processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tagweave.corpus.files import read_lines, written
from tagweave.errors import StreamError


def upper_case(source: str, target: str) -> list[str]:
    """Write lines in upper case.

    The last line may say what goes wrong, after half of the output: `bad` is refused, `bug` is none of the user's,
    `die` ends the process, `die once` does so the first time; `note` gives a note.
    """
    lines = list(read_lines(source))
    with Path(f"{source}.begun").open("a") as log:
        log.write("begun\n")
    with written(target) as stream:
        stream.write(f"{lines[0].upper()}\n")
        if lines[-1] == "bad":
            raise StreamError(f"{source}:{len(lines)}: found bad, expected good")
        if lines[-1] == "bug":
            raise KeyError("bug")
        if lines[-1] == "die" or (lines[-1] == "die once" and begun(source) == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        stream.writelines(f"{line.upper()}\n" for line in lines[1:])
    return [f"{source}: taken for text"] if lines[-1] == "note" else []


def begun(source: str) -> int:
    """Return how often a file was begun."""
    return Path(f"{source}.begun").read_text().count("\n")
