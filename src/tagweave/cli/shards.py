"""Folders of files through a command on many workers: progress, and counts at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli.console import OptionError, progress_line
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.shards.run import Counts

_SHOWN = 20  # bad shards that are listed
_EVERY = 10.0  # seconds between lines of progress where standard error is not a terminal


def through_shards(
    function: str,
    *arguments: Any,
    output: str,
    place: Mapping[str, Any],
    **options: Any,
) -> bool:
    """Call a function of `tagweave.front.shards` with progress, and return True, if there is a cluster."""
    if "cluster" not in place:
        for name in place:
            flag = f"--{name.replace('_', '-')}"
            raise OptionError(f"found {flag} without --cluster, expected --cluster local, auto or an address as well")
        return False
    from tagweave.front import shards

    if output == "-":
        raise OptionError("found --cluster without --output, expected the folder for the files (-o OUT/)")
    own = dict(place)
    if (on_error := own.pop("on_error", "fail")) not in ("skip", "fail"):
        raise OptionError(f"found --on-error {on_error}, expected skip or fail")
    with _progress() as progress:
        own |= {"skip_bad": on_error == "skip", "progress": progress}
        counts: Counts = getattr(shards, function)(*arguments, output, **own, **options)
    for line in (*counts.notes.values(), *summary(counts, output)):
        say(line)
    if counts.failed:
        raise typer.Exit(1)
    return True


def summary(counts: Counts, output: str) -> list[str]:
    """Tell the counts of a run, and the shards that were set aside, in lines."""
    before = f", {counts.before:,} were there before" if counts.before else ""
    rate = counts.read / max(counts.seconds, 1e-9)
    lines = [
        f"{output}: {_files(counts.done)} written{before}; {_bytes(counts.read)} read, {_bytes(counts.written)} written"
        f" in {counts.seconds:.1f} s ({_bytes(rate)}/s)"
    ]
    if counts.failed:
        lines.append(f"{_files(len(counts.failed))} set aside (see {output.rstrip('/')}/_tagweave/failed):")
        shown = list(counts.failed.items())[:_SHOWN]
        lines += [f"  {name}: {problem.splitlines()[-1]}" for name, problem in shown]
        lines += [f"  and {len(counts.failed) - _SHOWN:,} more"] if len(counts.failed) > _SHOWN else []
    return lines


@contextmanager
def _progress() -> Iterator[Callable[[Counts], Any]]:
    """A bar with rate and time left on a terminal, otherwise a line every few seconds."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with progress_line(TextColumn("{task.description}"), *columns) as progress:
        bar = progress and progress.add_task("starting workers", total=None)

        def show(counts: Counts) -> None:
            failed = f", {len(counts.failed)} set aside" if counts.failed else ""
            text = f"{counts.done + len(counts.failed)} of {counts.shards} files{failed}"
            progress.update(bar, description=text, total=counts.bytes, completed=counts.read)

        yield show if progress else _Lines()


class _Lines:
    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, counts: Counts) -> None:
        if counts.seconds - self._last < _EVERY or not counts.read:
            return
        self._last = counts.seconds
        left = counts.seconds * (counts.bytes - counts.read) / counts.read
        done = counts.done + len(counts.failed)
        rate = _bytes(counts.read / counts.seconds)
        say(f"{done:,} of {counts.shards:,} files, {rate}/s, about {left:,.0f} s left")


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _bytes(number: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"
