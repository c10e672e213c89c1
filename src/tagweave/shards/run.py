"""A run over shards: gives them to an executor, reports progress, and sets bad ones aside."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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


def run(
    executor: Executor,
    work: Work,
    inputs: Sequence[str],
    output: str,
    text_column: str = "text",
    skip_bad: bool = False,
    progress: Callable[[Counts], Any] = lambda counts: None,
) -> Counts:
    """Do the work for every shard that is not done yet.

    Args:
        executor: calls workers.
        work: what is done to a shard.
        inputs: files, folders and patterns: see `shards_of`.
        output: the output folder, a path or URL; it is made if it does not exist.
        text_column: the column of tables that holds the text.
        skip_bad: whether to set bad shards aside and go on, rather than stop at the first one.
        progress: called at the beginning, and whenever a shard is finished or set aside.

    Raises:
        ShardError: no shards, an output folder of other work, or a bad shard.
        ClusterError: workers died.
        OSError: the output folder cannot be written.
    """
    begin, manifest = time.perf_counter(), Manifest(_absolute(output))
    shards = shards_of(inputs)
    _check_apart(shards, manifest)
    manifest.begin(work.describe())
    done = manifest.done(shards)
    waiting = [shard for shard in shards if shard.name not in done]
    counts = Counts(len(waiting), sum(shard.size for shard in waiting), len(done))
    progress(counts)
    tasks = (ShardTask(work, shard, manifest.output, text_column) for shard in waiting)
    for task, outcome in executor.outcomes(carry_out, tasks):
        counts.seconds = time.perf_counter() - begin
        if isinstance(outcome, Failure):
            _set_aside(manifest, task.shard, outcome, counts, skip_bad)
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
