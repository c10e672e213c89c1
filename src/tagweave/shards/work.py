"""What a worker does with one shard: reads it, passes it through the function of the work, and writes it whole."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tagweave.corpus.errors import is_for_users
from tagweave.shards.errors import ShardError
from tagweave.shards.listing import Shard
from tagweave.shards.manifest import Manifest
from tagweave.shards.rows import Notes, is_table, through_rows
from tagweave.shards.store import Store

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
        manifest: that of the output folder.
        text_column: the column of tables that holds the text.
    """

    work: Work
    shard: Shard
    manifest: Manifest
    text_column: str


@dataclass(frozen=True)
class Finished:
    """A finished shard: bytes written, and notes on assumptions about it."""

    written: int
    notes: tuple[str, ...]


def carry_out(task: ShardTask) -> Finished:
    """Do the work of a task, and record it in the manifest.

    Raises:
        ShardError: the shard cannot be read, or the work refuses it.
        OSError: a file cannot be read or written.
    """
    begin, shard, store = time.perf_counter(), task.shard, task.manifest.store
    with Store(shard.base).readable(shard.name) as source:
        notes = _through(task, source)
    written = int(store.system.info(store.path(shard.name))["size"])
    task.manifest.finish(shard, output_size=written, seconds=round(time.perf_counter() - begin, 3))
    return Finished(written, tuple(note.replace(source, shard.url) for note in notes))


def _through(task: ShardTask, source: str) -> Notes:
    """Write what becomes of a local file, and return notes; messages name the shard, whatever its local path."""
    store, name = task.manifest.store, task.shard.name
    with store.written(name) as target:
        try:
            if is_table(source):
                return through_rows(task.work.carry_out, source, target, task.text_column)
            return task.work.carry_out(source, target)
        except (ValueError, OSError) as error:
            if not is_for_users(error):
                raise
            text = str(error).replace(source, task.shard.url).replace(target, store.path(name))
            raise ShardError(text or type(error).__name__) from error
