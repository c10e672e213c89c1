"""The manifest of an output folder: which shards are done, from which input, by which work.

    OUT/_tagweave/work.json          the work: its function, the digests of its models, and its options
    OUT/_tagweave/done/NAME.json     a record of every finished shard, written after the shard has taken its name
    OUT/_tagweave/failed/NAME.json   why a shard was set aside; the next run tries it again
    OUT/_tagweave/unfinished/        shards that are being written

All of it is plain JSON, and may be read by other programs. Whoever finishes a shard records it, so what is recorded
does not depend on the process that began the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tagweave import __version__
from tagweave.shards.errors import ShardError
from tagweave.shards.file_system import file_system, is_local

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

    from tagweave.shards.listing import Shard

FOLDER = "_tagweave"
_READERS = 32  # records read at the same time: an object store takes a while for each


@dataclass(frozen=True)
class Manifest:
    """The manifest of an output folder.

    Attributes:
        output: the folder, a path or URL.
    """

    output: str

    @property
    def system(self) -> AbstractFileSystem:
        """The file system of the folder."""
        return file_system(self.output)[0]

    def path(self, *parts: str) -> str:
        """A path in the folder, on its file system."""
        return "/".join([file_system(self.output)[1].rstrip("/"), *parts])

    def begin(self, work: Mapping[str, Any]) -> None:
        """Record what is done to shards, or check that it is what has been done before.

        Raises:
            ShardError: the folder holds shards of other work.
            OSError: it cannot be written.
        """
        system, path = self.system, self.path(FOLDER, "work.json")
        if system.exists(path):
            _check_same(_json(system, path, "the work of a folder"), work, self.output)
        else:
            self.write((FOLDER, "work.json"), work)
        unfinished = self.path(FOLDER, "unfinished")
        if system.exists(unfinished):  # what a killed run has left
            system.rm(unfinished, recursive=True)

    def done(self, shards: Iterable[Shard]) -> set[str]:
        """The names of shards that are finished, and neither side of which has changed since.

        Raises:
            ShardError: a damaged record.
        """
        sizes = {path: info["size"] for path, info in self.system.find(self.path(), detail=True).items()}
        recorded = [each for each in shards if self.path(FOLDER, "done", f"{each.name}.json") in sizes]
        with ThreadPoolExecutor(_READERS) as pool:
            records = pool.map(self._record, recorded)
        return {
            shard.name
            for shard, record in zip(recorded, records, strict=True)
            if (record.get("size"), record.get("modified")) == (shard.size, shard.modified)
            and record.get("output_size") == sizes.get(self.path(shard.name))
        }

    def finish(self, shard: Shard, **facts: Any) -> None:
        """Record a finished shard."""
        self.write((FOLDER, "done", f"{shard.name}.json"), {**asdict(shard), **facts, "version": __version__})
        failed = self.path(FOLDER, "failed", f"{shard.name}.json")
        if self.system.exists(failed):
            self.system.rm_file(failed)

    def set_aside(self, shard: Shard, problem: str) -> None:
        """Record why a shard was not finished."""
        self.write((FOLDER, "failed", f"{shard.name}.json"), {**asdict(shard), "problem": problem})

    def write(self, parts: tuple[str, ...], content: Mapping[str, Any]) -> None:
        """Write a file of the manifest; it appears whole or not at all."""
        system, path = self.system, self.path(*parts)
        make_parent(system, path)
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        if is_local(system):
            from tagweave.corpus.whole_file import whole_file

            with whole_file(path) as part:
                part.write_text(text, "utf-8")
        else:
            system.pipe_file(path, text.encode())  # object stores show a file when it is whole

    def _record(self, shard: Shard) -> dict[str, Any]:
        return _json(self.system, self.path(FOLDER, "done", f"{shard.name}.json"), "the record of a shard")


def make_parent(system: AbstractFileSystem, path: str) -> None:
    """Make the folder of a file; object stores have no folders."""
    if is_local(system):
        system.makedirs(path.rpartition("/")[0], exist_ok=True)


def _json(system: AbstractFileSystem, path: str, what: str) -> dict[str, Any]:
    try:
        content = json.loads(system.cat_file(path))
    except (ValueError, RecursionError) as error:
        raise ShardError(f"{path}: found a damaged file ({error}), expected {what} in JSON; remove it") from error
    if not isinstance(content, dict):
        raise ShardError(f"{path}: found JSON of another kind, expected {what}; remove it")
    return content


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], output: str) -> None:
    names = sorted({*before, *now} - {"version"})
    changed = [
        f"{name} {_short(before.get(name))}, now {_short(now.get(name))}"
        for name in names
        if before.get(name) != now.get(name)
    ]
    if changed:
        raise ShardError(
            f"{output}: found shards of other work ({'; '.join(changed)}), expected another folder for this"
        )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
