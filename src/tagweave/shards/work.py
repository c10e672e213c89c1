"""What a worker does with one shard: reads it, passes it through the function of the work, and writes it whole."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tagweave.shards.errors import ShardError
from tagweave.shards.file_system import file_system, is_local
from tagweave.shards.listing import Shard
from tagweave.shards.manifest import FOLDER, Manifest, make_parent
from tagweave.shards.rows import Notes, is_table, through_rows

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor


class Work(Protocol):
    """What is done to every shard: plain data that travels to the workers."""

    def describe(self) -> Mapping[str, Any]:
        """All that determines the output, as plain data for JSON."""
        ...

    def shared(self, executor: Executor) -> Work:
        """The same work, with its files readable on all workers."""
        ...

    def carry_out(self, source: str, target: str) -> Notes:
        """Read one local file and write another one; returns notes on assumptions about it."""
        ...


@dataclass(frozen=True)
class ShardTask:
    """A shard and what is to be done with it.

    Attributes:
        work: what is done.
        shard: the shard.
        output: the output folder, a path or URL.
        text_column: the column of tables that holds the text.
    """

    work: Work
    shard: Shard
    output: str
    text_column: str


@dataclass(frozen=True)
class Finished:
    """A finished shard: bytes written, seconds taken, and notes on assumptions about it."""

    written: int
    seconds: float
    notes: tuple[str, ...]


def carry_out(task: ShardTask) -> Finished:
    """Do the work of a task, and record it in the manifest.

    Raises:
        ShardError: the shard cannot be read, or the work refuses it.
        OSError: a file cannot be read or written.
    """
    begin, manifest, shard = time.perf_counter(), Manifest(task.output), task.shard
    with _readable(shard) as source:
        try:
            with _written(manifest, shard.name) as target:
                notes = _through(task, source, target)
        except ValueError as error:
            raise ShardError(str(error).replace(source, shard.url)) from error
    seconds = time.perf_counter() - begin
    written = int(manifest.system.info(manifest.path(shard.name))["size"])
    manifest.finish(shard, output_size=written, seconds=round(seconds, 3))
    return Finished(written, seconds, tuple(note.replace(source, shard.url) for note in notes))


def _through(task: ShardTask, source: str, target: str) -> Notes:
    if is_table(source):
        return through_rows(task.work.carry_out, source, target, task.text_column)
    return task.work.carry_out(source, target)


@contextmanager
def _readable(shard: Shard) -> Iterator[str]:
    """A local path of a shard: its own, or that of a temporary copy."""
    system, base = file_system(shard.base)
    path = f"{base.rstrip('/')}/{shard.name}"
    if is_local(system):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        copy = str(Path(folder) / Path(shard.name).name)
        system.get_file(path, copy)
        yield copy


@contextmanager
def _written(manifest: Manifest, name: str) -> Iterator[str]:
    """A local path to write to; the file takes its name when the block ends without an exception."""
    system, final = manifest.system, manifest.path(name)
    last = Path(name).name
    unfinished = manifest.path(FOLDER, "unfinished", f"{secrets.token_hex(8)}-{last}")
    if is_local(system):
        make_parent(system, unfinished)
        yield unfinished
    else:
        with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
            local = str(Path(folder) / last)
            yield local
            system.put_file(local, unfinished)
    make_parent(system, final)
    if is_local(system):
        Path(unfinished).replace(final)
    else:
        system.mv(unfinished, final)
