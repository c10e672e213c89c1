"""Shards, found by paths, folders and patterns, and folders on local and remote file systems.

Credentials come from the environment, as the library of each file system documents.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.characters import printable
from tagweave.corpus.files import remove_left, whole_file
from tagweave.errors import ShardError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

FOLDER = "_tagweave"
"""The folder of a manifest, and of files that are being written, in an output folder."""
UNFINISHED = (FOLDER, "unfinished")
"""The folder of files that are being written, in an output folder."""
_OF_ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""The schemes for which pyarrow brings a file system; fsspec needs a package for each."""
_OBJECTS = ("s3", "gs", "gcs", "abfs", "abfss")
"""The schemes of object stores: they have no folders, and show a file when it is whole."""
_NAME = 40  # characters of a name that tell its format


class ShardFolder:
    """A folder on a file system, as plain data: its path or URL."""

    def __init__(self, url: str) -> None:
        self.scheme = scheme_of(url)
        self.url = url.rstrip("/") if self.scheme else os.path.abspath(url)  # noqa: PTH100 - resolves no links

    def __reduce__(self) -> tuple[type[ShardFolder], tuple[str]]:
        return ShardFolder, (self.url,)

    @cached_property
    def _opened(self) -> tuple[AbstractFileSystem, str]:
        try:
            return _open(self.scheme, self.url)
        except (ImportError, ValueError) as error:
            found = f"{self.url}: found no way to read {self.scheme}:// ({error})"
            raise ShardError(f"{found}, expected a known file system") from error

    @property
    def system(self) -> AbstractFileSystem:
        return self._opened[0]

    @property
    def is_local(self) -> bool:
        return not self.scheme

    def path(self, *parts: str) -> str:
        """Return a path in the folder, on its file system."""
        return "/".join([self._opened[1].rstrip("/"), *parts]) or "/"

    def name(self, path: str) -> str:
        """Return the name, relative to the folder, of a path on its file system."""
        return path[len(self.path("")) :]

    def exists(self, *parts: str) -> bool:
        return bool(self.system.exists(self.path(*parts)))

    def entries(self, *parts: str) -> dict[str, dict[str, Any]]:
        """Name and description of every file in a folder and the folders below it; nothing if there is no such one."""
        found = self.system.find(self.path(*parts), detail=True)
        return {self.name(path): info for path, info in found.items()}

    def read(self, *parts: str) -> bytes:
        content: bytes = self.system.cat_file(self.path(*parts))
        return content

    def remove_unfinished(self, seconds: float) -> None:
        """Remove unfinished files of killed runs: on this machine all that nobody writes, elsewhere by their age."""
        if self.is_local:
            remove_left(Path(self.path(*UNFINISHED)))
        for name, info in self.entries(*UNFINISHED).items():
            modified = info.get("mtime") or 0
            changed = modified.timestamp() if isinstance(modified, datetime) else float(modified)
            if time.time() - changed > seconds:
                with suppress(OSError):
                    self.remove(name)

    def remove(self, *parts: str) -> None:
        with suppress(FileNotFoundError):
            self.system.rm_file(self.path(*parts))

    @contextmanager
    def readable(self, name: str) -> Iterator[str]:
        """A local path of a file: its own, or a temporary copy."""
        if self.is_local:
            yield self.path(name)
            return
        with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
            copy = str(Path(folder) / Path(name).name)
            self.system.get_file(self.path(name), copy)
            yield copy

    @contextmanager
    def written(self, *parts: str) -> Iterator[str]:
        """A local path to write to; the file takes its name when the block ends without an exception."""
        last = parts[-1].rpartition("/")[2]
        unfinished = self.path(*UNFINISHED, f"{secrets.token_hex(8)}-{last[-_NAME:]}")
        self._make_parent(unfinished)
        if self.is_local:
            final = self.path(*parts)
            self._make_parent(final)
            root = os.path.realpath(self.path())
            if not Path(os.path.realpath(final)).is_relative_to(root):
                raise ShardError(f"{final}: found a link out of {root}, expected folders in it")
            with whole_file(final, Path(unfinished).parent) as part:
                yield str(part)
            return
        with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
            local = str(Path(folder) / last[-_NAME:])
            yield local
            self.system.put_file(local, unfinished)
        final = self.path(*parts)
        self._make_parent(final)
        if self.scheme not in _OBJECTS and self.system.exists(final):
            self.system.rm_file(final)
        self.system.mv(unfinished, final)

    def _make_parent(self, path: str) -> None:
        if self.scheme not in _OBJECTS:
            self.system.makedirs(path.rpartition("/")[0], exist_ok=True)


def scheme_of(url: str) -> str:
    """Return the scheme of a URL; "" for a local path."""
    return url.partition("://")[0].lower() if "://" in url else ""


def split_url(url: str) -> tuple[str, str]:
    """Return the folder and the name of a file."""
    folder, slash, name = url.rpartition("/")
    return (folder or "/") if slash else ".", name


def _open(scheme: str, url: str) -> tuple[AbstractFileSystem, str]:
    if not scheme:
        from fsspec.implementations.local import LocalFileSystem

        return LocalFileSystem(), url
    if scheme not in _OF_ARROW:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
        return system, path
    try:
        from fsspec.implementations.arrow import ArrowFSWrapper
        from pyarrow.fs import FileSystem, S3FileSystem
    except ImportError as error:
        raise ImportError("it needs pyarrow: pip install '.[ray]' in a checkout of tagweave") from error
    if scheme == "s3":  # by hand: `from_uri` asks Amazon for the region of the bucket, whatever the endpoint
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return ArrowFSWrapper(S3FileSystem(endpoint_override=endpoint)), url.partition("://")[2]
    system, path = FileSystem.from_uri(url)
    return ArrowFSWrapper(system), path


_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Shard:
    """A file of the input."""

    base: str
    name: str
    size: int  # bytes
    modified: str = ""  # when it changed last, as its file system says it; "" if it does not

    @property
    def url(self) -> str:
        return f"{self.base.rstrip('/')}/{self.name}"


def shards_of(inputs: Iterable[str]) -> list[Shard]:
    """Return the shards of files, folders (with all that is below them) and patterns (`in/*.txt.gz`, `s3://BUCKET/**`).

    In folders, names that begin with `_` or `.` are left out, as in other programs that write folders of shards. Large
    shards come first, so that no worker is left alone with one at the end.
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
    for name, shard in shards.items():
        for parent in map(str, PurePosixPath(name).parents):
            if other := shards.get(parent) or shards.get(parent.removesuffix(".json")):  # as its record would be
                raise ShardError(f"found {other.url} and {shard.url}, expected no file with the name of a folder")
    return sorted(shards.values(), key=lambda shard: (-shard.size, shard.name))


def check_name(name: str, url: str) -> None:
    """Raise unless a name is one of a file inside an output folder, and not of its manifest."""
    parts = PurePosixPath(name).parts
    is_plain = bool(parts) and "/".join(parts) == name and printable(name) == name
    if not is_plain or name.startswith("/") or ".." in parts or "\\" in name or parts[0] == FOLDER:
        raise ShardError(f"{printable(url)}: found the name {name!r}, expected one inside the folder")


def _of_input(argument: str) -> Iterator[Shard]:
    argument = argument.rstrip("/") or "/"
    store = ShardFolder(argument)
    if store.exists():
        info = store.system.info(store.path().rstrip("/") or "/")
        if info["type"] == "directory":
            for shard in _shards(store, store.entries()):
                if not any(part.startswith(("_", ".")) for part in PurePosixPath(shard.name).parts):
                    yield shard
        else:
            folder, name = split_url(argument)
            yield from _shards(ShardFolder(folder), {name: info})
    elif magic := _MAGIC.search(argument):
        folder, rest = split_url(argument[: magic.start()])
        store, pattern = ShardFolder(folder), rest + argument[magic.start() :]
        found = store.system.glob(f"{glob.escape(store.path(''))}{pattern}", detail=True)
        entries = {store.name(path): info for path, info in found.items()}
        yield from (shard for shard in _shards(store, entries) if FOLDER not in PurePosixPath(shard.name).parts)


def _shards(store: ShardFolder, entries: Mapping[str, Any]) -> Iterator[Shard]:
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
