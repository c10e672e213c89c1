"""A run over shards: gives them to an executor, reports progress, and sets bad ones aside."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagweave.cluster.executor import Failure
from tagweave.corpus.errors import is_for_users
from tagweave.shards.errors import ShardError
from tagweave.shards.listing import Shard, shards_of
from tagweave.shards.manifest import Manifest
from tagweave.shards.store import Store, scheme_of, split_url
from tagweave.shards.work import Finished, ShardTask, Work, carry_out

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor

_NOTES = 20  # notes that are kept
_LINES = 20  # lines of a traceback that are recorded


@dataclass
class Counts:
    """How far a run is.

    Attributes:
        shards: how many there are to do in this run.
        bytes: their size together.
        before: shards that were done in an earlier run.
        done, read, written: finished shards, and bytes read and written for them.
        failed: shards that were set aside, with what was wrong.
        notes: assumptions about shards, with the first shard that each was made about.
        seconds: the time of the run so far.
    """

    shards: int
    bytes: int
    before: int
    done: int = 0
    read: int = 0
    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def before_run(cls, prepared: Prepared) -> Counts:
        """The counts before the first shard."""
        return cls(len(prepared.waiting), sum(shard.size for shard in prepared.waiting), prepared.before)


Progress = Callable[[Counts], Any]
"""Is called at the beginning, and whenever a shard is finished or set aside."""


def silent(counts: Counts) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Prepared:
    """Work whose input has been found, and whose output folder fits it.

    Attributes:
        work: what is done to a shard.
        manifest: the manifest of the output folder.
        waiting: the shards that are not done yet.
        before: how many are.
        text_column: the column of tables that holds the text.
    """

    work: Work
    manifest: Manifest
    waiting: Sequence[Shard]
    before: int
    text_column: str


def prepare(work: Work, inputs: Iterable[str], output: str, text_column: str = "text") -> Prepared:
    """Find shards, and those that an earlier run has finished.

    Args:
        work: what is done to a shard.
        inputs: files, folders and patterns: see `shards_of`.
        output: the output folder, a path or URL; it is made if it does not exist.
        text_column: the column of tables that holds the text.

    Raises:
        ShardError: no shards, or an output folder of other work.
        OSError: the output folder cannot be written.
    """
    manifest, shards = Manifest(Store(output)), shards_of(inputs)
    _check_apart(shards, manifest.store)
    manifest.begin({**work.describe(), "text_column": text_column})
    done = manifest.done(shards)
    return Prepared(work, manifest, [each for each in shards if each.name not in done], len(done), text_column)


def run(executor: Executor, prepared: Prepared, skip_bad: bool = False, progress: Progress = silent) -> Counts:
    """Do the work for every shard that waits.

    Args:
        executor: calls workers.
        prepared: the work and its shards.
        skip_bad: whether to set bad shards aside and go on, rather than stop at the first one.
        progress: called at the beginning, and whenever a shard is finished or set aside.

    Raises:
        ShardError: a bad shard.
        ClusterError: workers died.
        OSError: the output folder cannot be written.
    """
    begin, counts = time.perf_counter(), Counts.before_run(prepared)
    progress(counts)
    work, manifest = prepared.work.shared(executor), prepared.manifest
    tasks = (ShardTask(work, shard, manifest, prepared.text_column) for shard in prepared.waiting)
    with closing(executor.outcomes(carry_out, tasks)) as outcomes:  # the first bad shard ends what is waiting
        for task, outcome in outcomes:
            counts.seconds = time.perf_counter() - begin
            if isinstance(outcome, Failure):
                _set_aside(manifest, task.shard, outcome, counts, skip_bad)
            else:
                _add(counts, task.shard, outcome)
            progress(counts)
    return counts


def _add(counts: Counts, shard: Shard, finished: Finished) -> None:
    counts.done += 1
    counts.read += shard.size
    counts.written += finished.written
    if len(counts.notes) < _NOTES:
        for note in finished.notes:
            counts.notes.setdefault(note.replace(shard.url, ""), note)


def _set_aside(manifest: Manifest, shard: Shard, failure: Failure, counts: Counts, skip_bad: bool) -> None:
    """Record a bad shard. Raises as `run`."""
    error = failure.error
    problem = str(error) or type(error).__name__
    if not is_for_users(error):
        problem = "\n".join(failure.trace.splitlines()[-_LINES:])
    manifest.set_aside(shard, problem)
    if not skip_bad:
        if is_for_users(error):
            raise ShardError(problem if shard.url in problem else f"{shard.url}: {problem}") from error
        error.add_note(failure.trace)
        raise error
    counts.failed[shard.name] = problem
    counts.read += shard.size


def _check_apart(shards: Sequence[Shard], output: Store) -> None:
    """Raise if a shard would be written over an input, by whatever name."""
    folders: dict[str, str] = {}

    def real(url: str) -> str:
        folder, name = split_url(url)
        if folder not in folders:
            folders[folder] = folder if scheme_of(folder) else os.path.realpath(folder)
        return f"{folders[folder]}/{name}"

    read = {real(shard.url) for shard in shards}
    for shard in shards:
        if (path := real(f"{output.url}/{shard.name}")) in read:
            raise ShardError(f"{output.url}: found {path}, which is read, as output, expected another folder")
