"""The registry of corpora that have names (`registry.json`), and their files: fetched once, checked at every use.

    <folder>/ud/English-EWT/2.7/en_ewt-ud-train.conllu
    <folder>/digests.json       of files whose digest nobody published: what they were when they were fetched

The folder is `$TAGWEAVE_DATA`, or `tagweave` in the user's folder of caches. The digests in the registry are from
elsewhere than the files: the library `datasets` of Hugging Face has published them (`dataset_infos.json`), and the
digests of CoNLL-2000 were computed from a copy of the files, too. A file whose digest is not known is believed when it
is fetched for the first time. Downloads go on where they were broken off.
"""

from __future__ import annotations

import json
import os
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tagweave.corpus.files import digest, whole_file
from tagweave.corpus.named import DataName
from tagweave.errors import DataError


class RemoteFile(NamedTuple):
    """A file of a corpus."""

    name: DataName  # with its split
    url: str
    path: str  # where it is kept, relative to the folder of the family
    sha256: str | None  # in hexadecimal; `None` if it is not known

    def error(self, found: str, expected: str) -> DataError:
        return DataError(str(self.name), found, expected)


class KnownCorpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A corpus, or a treebank of all releases."""

    licence: str
    about: str
    splits: dict[str, str] = {}  # the ends of their addresses; those of treebanks follow from the name
    sha256: dict[str, str] = {}  # by split; for treebanks by `VERSION/SPLIT`


class CorpusFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Corpora of one origin."""

    title: str
    page: str  # where people read about them; `{corpus}` is filled in
    url: str  # `{corpus}`, `{version}` and `{file}` are filled in
    corpora: dict[str, KnownCorpus] = {}  # those of which more than the address is known
    languages: dict[str, str] = {}  # of treebanks, the code of each language in the names of files


@cache
def registry() -> dict[str, CorpusFamily]:
    """Return the families by the beginnings of their names."""
    text = files("tagweave.corpus.named").joinpath("registry.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, CorpusFamily])


def splits_of(name: DataName) -> tuple[str, ...]:
    """Return the splits of a corpus. Raises DataError if there is no such corpus."""
    if name.family == "ud":
        return "train", "dev", "test"
    if (corpus := known(name)) is None:
        names = ", ".join(f"{name.family}:{each}" for each in registry()[name.family].corpora)
        raise DataError(str(name), f"no corpus {name.corpus!r}", f"one of {names}")
    return tuple(corpus.splits)


def known(name: DataName) -> KnownCorpus | None:
    """Return what more than the address is known of a corpus, if anything."""
    return registry()[name.family].corpora.get(name.corpus)


def remote_file(name: DataName) -> RemoteFile:
    """Return the file of a corpus's split. Raises DataError if there is none, or a treebank's version is missing."""
    split, family, corpus = name.split, registry()[name.family], known(name)
    if split is None:
        raise DataError(str(name), "no split", f"one of {', '.join(f'{name}/{each}' for each in splits_of(name))}")
    if split not in splits_of(name):
        raise DataError(str(name), f"the split {split!r}", f"one of {', '.join(splits_of(name))}")
    if name.family != "ud" and corpus is not None:
        if name.version:
            raise DataError(str(name), f"the version {name.version}", f"none: {name.family}:{name.corpus}/{split}")
        url = family.url.format(file=corpus.splits[split])
        return RemoteFile(name, url, f"{name.corpus}/{split}.conll", corpus.sha256.get(split))
    if not name.version:
        raise DataError(str(name), "no release", f"one, as ud:{name.corpus}@2.14/{split}")
    if [int(part or 0) for part in name.version.split(".")] < [2, 2]:
        raise DataError(str(name), f"the release {name.version}", "2.2 or later, which name their files alike")
    language, _, treebank = name.corpus.partition("-")
    code = family.languages.get(language)
    if code is None or not treebank:
        raise DataError(str(name), f"the treebank {name.corpus!r}", "LANGUAGE-TREEBANK as in UD, as English-EWT")
    file = f"{code}_{treebank.lower()}-ud-{split}.conllu"
    url = family.url.format(corpus=name.corpus, version=name.version, file=file)
    sha256 = corpus.sha256.get(f"{name.version}/{split}") if corpus else None
    return RemoteFile(name, url, f"{name.corpus}/{name.version}/{file}", sha256)


FOLDER = "TAGWEAVE_DATA"
"""The environment variable with the folder."""
OFFLINE = "TAGWEAVE_OFFLINE"
"""The environment variable that forbids to fetch anything, unless it is empty or 0."""
_DIGESTS = "digests.json"
_WANTED = "digests by address; delete the file to believe the next ones"


def folder() -> Path:
    """Return the folder where files are kept."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tagweave"


def kept(file: RemoteFile) -> Path:
    """Return where a file is kept, or would be."""
    return folder() / file.name.family / file.path


def fetched(name: DataName) -> Path:
    """Return the file of a corpus's split, fetched unless it is there."""
    file = remote_file(name)
    path = kept(file)
    if not path.exists():
        if os.environ.get(OFFLINE, "0") not in ("", "0"):
            raise file.error(f"no {path}, and {OFFLINE} set", f"the file of {file.url} there")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        _download(file, partial)
        expected = file.sha256 or first_digest(file)
        if expected and digest(str(partial)) != expected:
            partial.unlink()
            raise file.error(f"another file at {file.url}", f"one with the digest sha256:{expected}")
        partial.replace(path)
    expected, found = file.sha256 or first_digest(file), digest(str(path))
    if expected is None:
        with whole_file(folder() / _DIGESTS) as part:
            part.write_text(json.dumps({**_digests(), file.url: found}, indent=1) + "\n", "utf-8")
    elif found != expected:
        raise file.error(f"{path} with the digest {found}", f"{expected}; delete it to fetch it again")
    return path


def first_digest(file: RemoteFile) -> str | None:
    """Return the digest that a file had when it was fetched, if that is how it is known."""
    return _digests().get(file.url)


def _digests() -> dict[str, str]:
    path = folder() / _DIGESTS
    try:
        content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError as error:
        raise DataError(str(path), f"no JSON ({error})", _WANTED) from error
    if not isinstance(content, dict) or not all(isinstance(each, str) for each in content.values()):
        raise DataError(str(path), "other JSON", _WANTED)
    return content


_SECONDS = 30  # without a byte
_BLOCK = 1 << 16


def _download(file: RemoteFile, partial: Path) -> None:
    try:
        import requests
    except ImportError:
        wanted = "the extra data: pip install '.[data]' in a checkout of tagweave"
        raise file.error("no requests", wanted) from None
    try:
        with requests.Session() as session:
            total = _receive(session, file, partial)
    except requests.RequestException as error:
        instead = f"a network, or the file as {partial.with_suffix('')}"
        raise file.error(f"no answer of {file.url} ({type(error).__name__})", instead) from error
    size = partial.stat().st_size
    if size < total:
        raise file.error(f"{size:,} of {total:,} bytes of {file.url}", "all; the same command goes on with the rest")
    if size > total:
        partial.unlink()
        raise file.error(f"{size:,} bytes of {file.url}, written by two programs", f"{total:,}; try again")


def _receive(session: Any, file: RemoteFile, partial: Path) -> int:
    """Append to the partial file what it lacks; returns the size of the whole."""
    have = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with session.get(file.url, headers=headers, stream=True, timeout=_SECONDS) as answer:
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            partial.unlink()
            raise file.error(f"a partial file longer than {file.url}", "a beginning of it; try again")
        if answer.status_code == HTTPStatus.NOT_FOUND:
            raise file.error(f"no file at {file.url}", "a corpus, release and split that exist")
        if answer.status_code not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            raise file.error(f"the answer {answer.status_code} of {file.url}", "200")
        answer.raw.enforce_content_length = False  # otherwise the last block of what broke off is lost
        goes_on = answer.status_code == HTTPStatus.PARTIAL_CONTENT
        rest = int(answer.headers.get("Content-Length", -1))
        with partial.open("ab" if goes_on else "wb") as part:
            for block in answer.iter_content(_BLOCK):
                part.write(block)
        begin = have if goes_on else 0
        return begin + rest if rest >= 0 else partial.stat().st_size
