"""File systems by the scheme of a URL: local paths, `s3://`, `gs://`, `hdfs://`, and whatever fsspec knows.

Credentials come from the environment, as the libraries of each file system document it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tagweave.shards.errors import ShardError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_OF_ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""The schemes for which pyarrow brings a file system; fsspec needs a package for each."""


def file_system(url: str) -> tuple[AbstractFileSystem, str]:
    """The file system of a path or URL, and the path on it.

    Raises:
        ShardError: an unknown scheme, or one whose package is not installed.
        OSError: the file system cannot be reached.
    """
    from fsspec.core import url_to_fs

    scheme = scheme_of(url)
    try:
        if scheme in _OF_ARROW:
            return _of_arrow(url)
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ShardError(f"{url}: found no way to read {scheme}:// ({error}), expected a known file system") from error
    return system, path


def scheme_of(url: str) -> str:
    """The scheme of a URL; "" for a local path."""
    return url.partition("://")[0].lower() if "://" in url else ""


def is_local(system: AbstractFileSystem) -> bool:
    """Whether paths on a file system are paths of this machine."""
    from fsspec.implementations.local import LocalFileSystem

    return isinstance(system, LocalFileSystem)


def _of_arrow(url: str) -> tuple[AbstractFileSystem, str]:
    try:
        from fsspec.implementations.arrow import ArrowFSWrapper
        from pyarrow.fs import FileSystem, S3FileSystem
    except ImportError as error:
        raise ImportError("it needs pyarrow: pip install 'tagweave[ray]'") from error
    scheme, _, rest = url.partition("://")
    if scheme == "s3":  # by hand: `from_uri` asks Amazon for the region of the bucket, whatever the endpoint
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return ArrowFSWrapper(S3FileSystem(endpoint_override=endpoint)), rest
    system, path = FileSystem.from_uri(url)
    return ArrowFSWrapper(system), path
