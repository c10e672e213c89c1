"""Refuses outputs that would replace an input, before anything is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tagweave.cli.errors import OptionError


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Raise where a file is written that is read, or one is written twice.

    Args:
        outputs: the files that are written; `None` and `-` are none.
        inputs: the files that are read, or corpus arguments that name them.

    Raises:
        OptionError: an output is an input, or another output.
    """
    from tagweave.corpus.load import parse_argument

    read = {_real(parse_argument(each).path) for each in inputs if each}
    written: set[str] = set()
    for output in outputs:
        if not output or not _is_file(output):
            continue
        if (real := _real(output)) in read:
            raise OptionError(f"{output}: found a file that is read as the output, expected another name")
        if real in written:
            raise OptionError(f"{output}: found one file for two outputs, expected two names")
        written.add(real)


def _is_file(output: str) -> bool:
    """Whether writing replaces a file, or makes one; a pipe or a device stays what it is."""
    return output != "-" and (Path(output).is_file() or not Path(output).exists())


def _real(path: str) -> str:
    return os.path.realpath(path)
