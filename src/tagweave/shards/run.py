"""A run over shards: gives them to an executor, reports progress, and sets bad ones aside.

The manifest of an output folder says which shards are done, from which input, by which work:

    OUT/_tagweave/work.json          the work: its function, the digests of its models, and its options
    OUT/_tagweave/done/NAME.json     a record of every finished shard, written after the shard has taken its name
    OUT/_tagweave/failed/NAME.json   why a shard was set aside; the next run tries it again
    OUT/_tagweave/unfinished/        files that are being written

All of it is plain JSON, and may be read by other programs. Workers record the shards that they finish, so records do
not depend on the process that began the run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tagweave import __version__
from tagweave.cluster.executor import Failure
from tagweave.errors import ShardError, is_for_users
from tagweave.shards.listing import FOLDER, Shard, ShardFolder, scheme_of, shards_of, split_url
from tagweave.shards.rows import Notes, is_table, through_rows

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor

_READERS = 32  # records read at the same time: an object store takes a while for each
_ABANDONED = 24 * 3600  # seconds after which an unfinished file belongs to no run
_LONGEST = 200  # bytes of a name from which its record is named by a digest


@dataclass(frozen=True)
class Manifest:
    """The manifest of an output folder."""

    store: ShardFolder

    def begin(self, work: Mapping[str, Any]) -> None:
        """Record the work, or check that it is the same as before."""
        self.store.remove_unfinished(_ABANDONED)
        if self.store.exists(FOLDER, "work.json"):
            before = _json(self.store, FOLDER, "work.json")
            if before == dict(work):
                return
            if self.store.entries(FOLDER, "done"):
                names = [name for name in sorted({*before, *work}) if before.get(name) != work.get(name)]
                changes = "; ".join(
                    f"{name} {_short(before.get(name))}, now {_short(work.get(name))}" for name in names
                )
                found = f"found shards of other work ({changes})"
                raise ShardError(f"{self.store.url}: {found}, expected another folder for this")
        self._write(work, FOLDER, "work.json")

    def done(self, shards: Iterable[Shard]) -> set[str]:
        """Return the names of finished shards whose input and output have not changed since."""
        sizes = {name: info["size"] for name, info in self.store.entries().items()}
        recorded = [each for each in shards if _record("done", each.name) in sizes]
        with ThreadPoolExecutor(_READERS) as pool:
            records = pool.map(lambda shard: _json(self.store, _record("done", shard.name)), recorded)
            return {
                shard.name
                for shard, record in zip(recorded, records, strict=True)
                if (record.get("size"), record.get("modified")) == (shard.size, shard.modified)
                and record.get("output_size") == sizes.get(shard.name)
            }

    def finish(self, shard: Shard, **facts: Any) -> None:
        self._write({**asdict(shard), **facts, "version": __version__}, _record("done", shard.name))
        self.store.remove(_record("failed", shard.name))

    def set_aside(self, shard: Shard, problem: str) -> None:
        """Record why a shard was not finished, and remove what an earlier run made of it."""
        self.store.remove(_record("done", shard.name))
        self.store.remove(shard.name)
        self._write({**asdict(shard), "problem": problem}, _record("failed", shard.name))

    def _write(self, content: Mapping[str, Any], *parts: str) -> None:
        with self.store.written(*parts) as path:
            Path(path).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _record(kind: str, name: str) -> str:
    """Return the name of a record in the output folder."""
    folder, slash, last = name.rpartition("/")
    if len(last.encode()) > _LONGEST:
        last = sha256(last.encode()).hexdigest()
    return f"{FOLDER}/{kind}/{folder}{slash}{last}.json"


def _json(store: ShardFolder, *parts: str) -> dict[str, Any]:
    path = store.path(*parts)
    try:
        content = json.loads(store.read(*parts))
    except (ValueError, RecursionError) as error:
        raise ShardError(f"{path}: found a damaged file ({error}), expected a record in JSON; remove it") from error
    if not isinstance(content, dict):
        raise ShardError(f"{path}: found JSON of another kind, expected a record; remove it")
    return content


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Work(Protocol):
    """The work on every shard: plain data that travels to the workers."""

    def describe(self) -> Mapping[str, Any]:
        """Return all that determines the output, as plain data for JSON."""
        ...

    def shared(self, executor: Executor) -> Work:
        """Return the same work, with its files readable on all workers."""
        ...

    def carry_out(self, source: str, target: str) -> Notes:
        """Read one local file and write another one; returns notes on assumptions about it."""
        ...


@dataclass(frozen=True)
class ShardTask:
    """A shard and the work on it."""

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
    """Do the work of a task, and record it in the manifest."""
    begin, shard, store = time.perf_counter(), task.shard, task.manifest.store
    with ShardFolder(shard.base).readable(shard.name) as source:
        notes = _through(task, source)
    written = int(store.system.info(store.path(shard.name))["size"])
    task.manifest.finish(shard, output_size=written, seconds=round(time.perf_counter() - begin, 3))
    return Finished(written, tuple(note.replace(source, shard.url) for note in notes))


def _through(task: ShardTask, source: str) -> Notes:
    """Work on a local file, and return notes; messages name the shard instead of its local path."""
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


_NOTES = 20  # notes that are kept
_LINES = 20  # lines of a traceback that are recorded


@dataclass
class Counts:
    """How far a run is. `done` and `read` and `written`: finished shards, and bytes read and written for them."""

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
        return cls(len(prepared.waiting), sum(shard.size for shard in prepared.waiting), prepared.before)


Progress = Callable[[Counts], Any]
"""Is called at the beginning, and whenever a shard is finished or set aside."""


@dataclass(frozen=True)
class Prepared:
    """Work whose input has been found, and whose output folder fits it."""

    work: Work
    manifest: Manifest
    waiting: Sequence[Shard]
    before: int
    text_column: str


def prepare(work: Work, inputs: Iterable[str], output: str, text_column: str = "text") -> Prepared:
    """Find shards, and leave out the ones that an earlier run has finished."""
    manifest, shards = Manifest(ShardFolder(output)), shards_of(inputs)
    _check_apart(shards, manifest.store)
    manifest.begin({**work.describe(), "text_column": text_column})
    done = manifest.done(shards)
    return Prepared(work, manifest, [each for each in shards if each.name not in done], len(done), text_column)


def run(executor: Executor, prepared: Prepared, skip_bad: bool = False, progress: Progress = lambda _: None) -> Counts:
    """Do the work for every shard that waits."""
    begin, counts = time.perf_counter(), Counts.before_run(prepared)
    progress(counts)
    work, manifest = prepared.work.shared(executor), prepared.manifest
    tasks = (ShardTask(work, shard, manifest, prepared.text_column) for shard in prepared.waiting)
    with closing(executor.outcomes(carry_out, tasks)) as outcomes:  # the first bad shard ends what is waiting
        for task, outcome in outcomes:
            counts.seconds = time.perf_counter() - begin
            shard = task.shard
            if isinstance(outcome, Failure):
                error = outcome.error
                problem = str(error) or type(error).__name__
                if not is_for_users(error):
                    problem = "\n".join(outcome.trace.splitlines()[-_LINES:])
                manifest.set_aside(shard, problem)
                if not skip_bad and is_for_users(error):
                    raise ShardError(problem if shard.url in problem else f"{shard.url}: {problem}") from error
                if not skip_bad:
                    error.add_note(outcome.trace)
                    raise error
                counts.failed[shard.name] = problem
            else:
                counts.done += 1
                counts.written += outcome.written
                if len(counts.notes) < _NOTES:
                    for note in outcome.notes:
                        counts.notes.setdefault(note.replace(shard.url, ""), note)
            counts.read += shard.size
            progress(counts)
    return counts


def _check_apart(shards: Sequence[Shard], output: ShardFolder) -> None:
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
