"""Finds shards by paths, folders and patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tagweave.corpus.printable import printable
from tagweave.shards.errors import ShardError
from tagweave.shards.file_system import file_system, is_local

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
        return f"{self.base}/{self.name}"


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
    return sorted(shards.values(), key=lambda shard: (-shard.size, shard.name))


def check_name(name: str, url: str) -> None:
    """Raise unless a name is one of a file inside a folder.

    Raises:
        ShardError: it is not.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or printable(name) != name:
        raise ShardError(f"{printable(url)}: found the name {name!r}, expected one inside the folder")


def _of_input(argument: str) -> Iterator[Shard]:
    argument = argument.rstrip("/") or "/"
    magic = _MAGIC.search(argument)
    if magic:
        base, _, pattern = argument[: magic.start()].rpartition("/")
        base = base if base or argument.startswith("/") else "."
        system, root = file_system(base or "/")
        entries: Mapping[str, Any] = system.glob(
            f"{root.rstrip('/')}/{pattern}{argument[magic.start() :]}", detail=True
        )
        yield from _shards(root if is_local(system) else base, root, entries)
        return
    system, root = file_system(argument)
    argument = root if is_local(system) else argument  # absolute: workers may stand in another folder
    try:
        info = system.info(root)
    except FileNotFoundError:
        return
    if info["type"] == "directory":
        entries = system.find(root, detail=True)
        yield from (shard for shard in _shards(argument, root, entries) if not _is_hidden(shard.name))
    else:
        yield from _shards(argument.rpartition("/")[0], root.rpartition("/")[0], {root: info})


def _shards(base: str, root: str, entries: Mapping[str, Any]) -> Iterator[Shard]:
    start = len(root.rstrip("/")) + 1
    for path, info in entries.items():
        if info["type"] == "file":
            modified = info.get("mtime", info.get("LastModified", ""))
            yield Shard(base.rstrip("/"), path[start:], int(info["size"]), str(modified or ""))


def _is_hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in PurePosixPath(name).parts)
