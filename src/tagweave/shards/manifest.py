"""The manifest of an output folder: which shards are done, from which input, by which work.

    OUT/_tagweave/work.json          the work: its function, the digests of its models, and its options
    OUT/_tagweave/done/NAME.json     a record of every finished shard, written after the shard has taken its name
    OUT/_tagweave/failed/NAME.json   why a shard was set aside; the next run tries it again
    OUT/_tagweave/unfinished/        files that are being written

All of it is plain JSON, and may be read by other programs. Whoever finishes a shard records it, so what is recorded
does not depend on the process that began the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave import __version__
from tagweave.shards.errors import ShardError
from tagweave.shards.store import FOLDER, Store

if TYPE_CHECKING:
    from tagweave.shards.listing import Shard

_READERS = 32  # records read at the same time: an object store takes a while for each
_ABANDONED = 24 * 3600  # seconds after which an unfinished file belongs to no run
_LONGEST = 200  # bytes of a name from which its record is named by a digest


@dataclass(frozen=True)
class Manifest:
    """The manifest of an output folder."""

    store: Store

    def begin(self, work: Mapping[str, Any]) -> None:
        """Record what is done to shards, or check that it is what has been done before.

        Raises:
            ShardError: the folder holds shards of other work.
            OSError: it cannot be written.
        """
        self.store.remove_unfinished(_ABANDONED)
        if self.store.exists(FOLDER, "work.json"):
            before = _json(self.store, FOLDER, "work.json")
            if before == dict(work):
                return
            if self.store.entries(FOLDER, "done"):
                raise ShardError(f"{self.store.url}: {_difference(before, work)}, expected another folder for this")
        self._write(work, FOLDER, "work.json")

    def done(self, shards: Iterable[Shard]) -> set[str]:
        """The names of shards that are finished, and neither side of which has changed since.

        Raises:
            ShardError: a damaged record.
        """
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
        """Record a finished shard."""
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
    """The name of a record in the output folder."""
    folder, slash, last = name.rpartition("/")
    if len(last.encode()) > _LONGEST:
        last = sha256(last.encode()).hexdigest()
    return f"{FOLDER}/{kind}/{folder}{slash}{last}.json"


def _json(store: Store, *parts: str) -> dict[str, Any]:
    path = store.path(*parts)
    try:
        content = json.loads(store.read(*parts))
    except (ValueError, RecursionError) as error:
        raise ShardError(f"{path}: found a damaged file ({error}), expected a record in JSON; remove it") from error
    if not isinstance(content, dict):
        raise ShardError(f"{path}: found JSON of another kind, expected a record; remove it")
    return content


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    changes = (f"{name} {_short(before.get(name))}, now {_short(now.get(name))}" for name in names)
    return f"found shards of other work ({'; '.join(changes)})"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
