"""A run over shards: gives them to an executor, reports progress, and sets bad ones aside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagweave.cluster.executor import ClusterError, Failure
from tagweave.shards.errors import ShardError
from tagweave.shards.file_system import file_system, is_local
from tagweave.shards.listing import Shard, shards_of
from tagweave.shards.manifest import Manifest
from tagweave.shards.work import Finished, ShardTask, Work, carry_out

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor


@dataclass
class Counts:
    """How far a run is.

    Attributes:
        shards: how many there are to do in this run.
        bytes: their size together.
        before: shards that were done in an earlier run.
        done, read, written: finished shards, and bytes read and written for them.
        failed: shards that were set aside, with what was wrong.
        notes: assumptions about shards, each once.
        seconds: the time of the run so far.
    """

    shards: int
    bytes: int
    before: int
    done: int = 0
    read: int = 0
    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
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
    manifest, shards = Manifest(_absolute(output)), shards_of(inputs)
    _check_apart(shards, manifest)
    manifest.begin(work.describe())
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
    work, output = prepared.work.shared(executor), prepared.manifest.output
    tasks = (ShardTask(work, shard, output, prepared.text_column) for shard in prepared.waiting)
    for task, outcome in executor.outcomes(carry_out, tasks):
        counts.seconds = time.perf_counter() - begin
        if isinstance(outcome, Failure):
            _set_aside(prepared.manifest, task.shard, outcome, counts, skip_bad)
        else:
            _add(counts, task.shard, outcome)
        progress(counts)
    return counts


def _absolute(folder: str) -> str:
    """The folder under a name that means the same to workers, which may stand in another folder."""
    system, path = file_system(folder)
    return str(path) if is_local(system) else folder.rstrip("/")


def _add(counts: Counts, shard: Shard, finished: Finished) -> None:
    counts.done += 1
    counts.read += shard.size
    counts.written += finished.written
    for note in finished.notes:
        counts.notes[note.replace(shard.url, "shards: text")] = None


def _set_aside(manifest: Manifest, shard: Shard, failure: Failure, counts: Counts, skip_bad: bool) -> None:
    """Record a bad shard. Raises as `run`."""
    error = failure.error
    is_of_user = isinstance(error, (ShardError, ClusterError, OSError))
    problem = f"{error}" if is_of_user else failure.trace
    manifest.set_aside(shard, problem)
    if not skip_bad:
        if is_of_user:
            raise ShardError(problem if shard.url in problem else f"{shard.url}: {problem}") from error
        raise error
    counts.failed[shard.name] = problem
    counts.read += shard.size


def _check_apart(shards: Sequence[Shard], manifest: Manifest) -> None:
    """Raise if a shard would be written over its input, or the output folder is part of the input."""
    for base in {shard.base for shard in shards}:
        system, root = file_system(base)
        ours, theirs = manifest.path(), root.rstrip("/")
        same_system = is_local(system) == is_local(manifest.system)
        if same_system and (ours == theirs or ours.startswith(f"{theirs}/")) and _reads(shards, base, ours, theirs):
            raise ShardError(f"{manifest.output}: found the folder of the input, expected another one for the output")


def _reads(shards: Sequence[Shard], base: str, ours: str, theirs: str) -> bool:
    """Whether a shard of a base lies in the output folder."""
    return any(each.base == base and f"{theirs}/{each.name}".startswith(f"{ours}/") for each in shards)
