"""The files of corpora on this machine: fetched when they are asked for first, checked whenever they are used.

    <folder>/ud/English-EWT/2.7/en_ewt-ud-train.conllu
    <folder>/digests.json       of files whose digest nobody published: what they were when they were fetched

The folder is `$TAGWEAVE_DATA`, or `tagweave` in the user's folder of caches.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tagweave.corpus.describe import digest
from tagweave.corpus.named.errors import DataError
from tagweave.corpus.named.name import DataName
from tagweave.corpus.named.registry import RemoteFile, remote_file
from tagweave.corpus.whole_file import whole_file

FOLDER = "TAGWEAVE_DATA"
"""The environment variable with the folder."""
OFFLINE = "TAGWEAVE_OFFLINE"
"""The environment variable that forbids to fetch anything, unless it is empty or 0."""
_DIGESTS = "digests.json"
_WANTED = "digests by address; delete the file to believe the next ones"


def folder() -> Path:
    """Where files are kept."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tagweave"


def kept(file: RemoteFile) -> Path:
    """Where a file is kept, or would be."""
    return folder() / file.name.family / file.path


def fetched(name: DataName) -> Path:
    """The file of a corpus's split, fetched unless it is there, with the digest that it is to have.

    Raises:
        DataError: there is no such corpus or file, no network, or the file is not the expected one.
        OSError: the folder cannot be written.
    """
    file = remote_file(name)
    path = kept(file)
    if not path.exists():
        _fetch(file, path)
    expected, found = file.sha256 or first_digest(file), digest(str(path))
    if expected is None:
        _remember(file, found)
    elif found != expected:
        raise DataError(str(name), f"{path} with the digest {found}", f"{expected}; delete it to fetch it again")
    return path


def first_digest(file: RemoteFile) -> str | None:
    """The digest that a file had when it was fetched, if that is how it is known."""
    return _digests().get(file.url)


def _fetch(file: RemoteFile, path: Path) -> None:
    if os.environ.get(OFFLINE, "0") not in ("", "0"):
        raise DataError(str(file.name), f"no {path}, and {OFFLINE} set", f"the file of {file.url} there")
    from tagweave.corpus.named.download import Download

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    Download(partial, file).receive()
    expected = file.sha256 or first_digest(file)
    if expected and digest(str(partial)) != expected:
        partial.unlink()
        raise DataError(str(file.name), f"another file at {file.url}", f"one with the digest sha256:{expected}")
    partial.replace(path)


def _digests() -> dict[str, str]:
    path = folder() / _DIGESTS
    try:
        content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError as error:
        raise DataError(str(path), f"no JSON ({error})", _WANTED) from error
    if not isinstance(content, dict) or not all(isinstance(each, str) for each in content.values()):
        raise DataError(str(path), "other JSON", _WANTED)
    return content


def _remember(file: RemoteFile, found: str) -> None:
    with whole_file(folder() / _DIGESTS) as part:
        part.write_text(json.dumps({**_digests(), file.url: found}, indent=1) + "\n", "utf-8")
