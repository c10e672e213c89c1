"""Finds shards by paths, folders and patterns."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tagweave.corpus.printable import printable
from tagweave.shards.errors import ShardError
from tagweave.shards.store import FOLDER, Store, split_url

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Shard:
    """A file of the input.

    Attributes:
        base: the folder, a path or URL, to which the name is relative.
        name: the path from there, with `/`: also the name of the output.
        size: bytes.
        modified: when it changed last, as its file system says it; "" if it does not.
    """

    base: str
    name: str
    size: int
    modified: str = ""

    @property
    def url(self) -> str:
        """The path or URL of the shard."""
        return f"{self.base.rstrip('/')}/{self.name}"


def shards_of(inputs: Iterable[str]) -> list[Shard]:
    """The shards of files, folders (with all that is below them) and patterns (`in/*.txt.gz`, `s3://BUCKET/**`).

    In folders, names that begin with `_` or `.` are left out, as in other programs that write folders of shards. Large
    shards come first, so that no worker is left alone with one at the end.

    Raises:
        ShardError: nothing found, two shards of one name, or a name that would leave the output folder.
        OSError: a folder cannot be read.
    """
    shards: dict[str, Shard] = {}
    for each in inputs:
        found = list(_of_input(each))
        if not found:
            raise ShardError(
                f"{each}: found no file, expected a file, a folder of files, or a pattern such as in/*.txt"
            )
        for shard in found:
            check_name(shard.name, shard.url)
            if shard.name in shards:
                problem = f"found {shards[shard.name].url} and {shard.url}, two shards of the name {shard.name}"
                raise ShardError(f"{problem}, expected different ones: the output has the names of the input")
            shards[shard.name] = shard
    _check_folders(shards)
    return sorted(shards.values(), key=lambda shard: (-shard.size, shard.name))


def check_name(name: str, url: str) -> None:
    """Raise unless a name is one of a file inside an output folder, and not of its manifest.

    Raises:
        ShardError: it is not.
    """
    parts = PurePosixPath(name).parts
    is_plain = bool(parts) and "/".join(parts) == name and printable(name) == name
    if not is_plain or name.startswith("/") or ".." in parts or "\\" in name or parts[0] == FOLDER:
        raise ShardError(f"{printable(url)}: found the name {name!r}, expected one inside the folder")


def _check_folders(shards: Mapping[str, Shard]) -> None:
    """Raise if a shard has the name of a folder of another one, or if their records would."""
    for name, shard in shards.items():
        for parent in map(str, PurePosixPath(name).parents):
            other = shards.get(parent) or shards.get(parent.removesuffix(".json"))
            if other:
                raise ShardError(f"found {other.url} and {shard.url}, expected no file with the name of a folder")


def _of_input(argument: str) -> Iterator[Shard]:
    argument = argument.rstrip("/") or "/"
    store = Store(argument)
    if store.exists():
        info = store.system.info(store.path().rstrip("/") or "/")
        if info["type"] == "directory":
            yield from (shard for shard in _shards(store, store.entries()) if not _is_hidden(shard.name))
        else:
            folder, name = split_url(argument)
            yield from _shards(Store(folder), {name: info})
    elif magic := _MAGIC.search(argument):
        folder, rest = split_url(argument[: magic.start()])
        yield from _matching(Store(folder), rest + argument[magic.start() :])


def _matching(store: Store, pattern: str) -> Iterator[Shard]:
    found = store.system.glob(f"{glob.escape(store.path(''))}{pattern}", detail=True)
    entries = {store.name(path): info for path, info in found.items()}
    yield from (shard for shard in _shards(store, entries) if FOLDER not in PurePosixPath(shard.name).parts)


def _shards(store: Store, entries: Mapping[str, Any]) -> Iterator[Shard]:
    for name, info in entries.items():
        size, modified = info["size"], info.get("mtime", info.get("LastModified", ""))
        if store.is_local and info["type"] != "directory":
            state = os.stat(store.path(name))  # noqa: PTH116 - links are followed
            if stat.S_ISDIR(state.st_mode):
                raise ShardError(f"{store.path(name)}: found a link to a folder, expected the folder itself as input")
            size, modified = state.st_size, state.st_mtime
        elif info["type"] != "file":
            continue
        yield Shard(store.url, name, int(size), str(modified or ""))


def _is_hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in PurePosixPath(name).parts)
