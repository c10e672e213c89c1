"""`--processes` and `--ray`: many files through a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tagweave.cli.console import OptionError, progress_bar
from tagweave.streams import say


def single(inputs: Sequence[str] | None) -> str:
    """Return the input of a command that reads one file, by default standard input."""
    if inputs and len(inputs) > 1:
        expected = "one, or --processes N, which writes a file for each into a folder"
        raise OptionError(f"found {len(inputs)} inputs, expected {expected}")
    return inputs[0] if inputs else "-"


def through_many_files(function: str, *arguments: Any, output: str, place: Mapping[str, Any], **options: Any) -> bool:
    """Call a function of `tagweave.front.many_files`, and return True, if --processes or --ray is set."""
    if not place:
        return False
    from tagweave.front import many_files

    if len(place) > 1:
        raise OptionError("found --processes and --ray, expected one of them")
    if output == "-":
        raise OptionError(f"found --{next(iter(place))} without --output, expected the folder for the files (-o OUT/)")
    with progress_bar("files") as progress:
        counts = getattr(many_files, function)(*arguments, output, progress=progress, tell=say, **place, **options)
    before = f", {counts.before:,} were there before" if counts.before else ""
    say(f"{output}: {counts.written:,} {'file' if counts.written == 1 else 'files'} written{before}")
    return True
