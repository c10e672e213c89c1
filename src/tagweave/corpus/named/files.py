"""What is known of corpora that have names: addresses, licences, splits, digests (`registry.json`).

The digests are from elsewhere than the files: the library `datasets` of Hugging Face has published them
(`dataset_infos.json`), and those of CoNLL-2000 were computed from a copy of the files, too. A file whose digest is not
known is believed when it is fetched for the first time (`cache.py`).

The files of corpora on this machine: fetched when they are asked for first, checked whenever they are used.

    <folder>/ud/English-EWT/2.7/en_ewt-ud-train.conllu
    <folder>/digests.json       of files whose digest nobody published: what they were when they were fetched

The folder is `$TAGWEAVE_DATA`, or `tagweave` in the user's folder of caches.

Downloads that go on where they were broken off.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tagweave.corpus.describe import digest
from tagweave.corpus.files import whole_file
from tagweave.corpus.named.name import DataName
from tagweave.errors import DataError

SPLITS = ("train", "dev", "test")


class RemoteFile(NamedTuple):
    """A file of a corpus.

    Attributes:
        name: the whole name of its corpus and split.
        url: where it is.
        path: where it is kept, relative to the folder of the family.
        sha256: its digest, in hexadecimal; `None` if it is not known.
    """

    name: DataName
    url: str
    path: str
    sha256: str | None


class KnownCorpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A corpus, or a treebank of all releases.

    Attributes:
        licence: its terms.
        about: what it holds.
        splits: the ends of the addresses of its splits; of treebanks nothing, as they follow from the name.
        sha256: digests by split; for treebanks by `VERSION/SPLIT`.
    """

    licence: str
    about: str
    splits: dict[str, str] = {}
    sha256: dict[str, str] = {}


class CorpusFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Corpora of one origin.

    Attributes:
        title: their common name.
        page: where people read about them; `{corpus}` is filled in.
        url: their address; `{corpus}`, `{version}` and `{file}` are filled in.
        corpora: those of which more than the address is known.
        languages: of treebanks, the code of each language in the names of files.
    """

    title: str
    page: str
    url: str
    corpora: dict[str, KnownCorpus] = {}
    languages: dict[str, str] = {}


@cache
def registry() -> dict[str, CorpusFamily]:
    """The families by the beginnings of their names."""
    text = files("tagweave.corpus.named").joinpath("registry.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, CorpusFamily])


def remote_file(name: DataName) -> RemoteFile:
    """The file of a corpus's split."""
    if name.split is None:
        raise DataError(str(name), "no split", f"one of {', '.join(f'{name}/{each}' for each in splits_of(name))}")
    if name.split not in splits_of(name):
        raise DataError(str(name), f"the split {name.split!r}", f"one of {', '.join(splits_of(name))}")
    return _of_treebank(name, name.split) if name.family == "ud" else _of_corpus(name, name.split)


def splits_of(name: DataName) -> tuple[str, ...]:
    """The splits of a corpus. Raises DataError if there is no such corpus."""
    return SPLITS if name.family == "ud" else tuple(_known(name).splits)


def known(name: DataName) -> KnownCorpus | None:
    """What more than the address is known of a corpus, if anything."""
    return registry()[name.family].corpora.get(name.corpus)


def _known(name: DataName) -> KnownCorpus:
    if (corpus := known(name)) is None:
        names = ", ".join(f"{name.family}:{each}" for each in registry()[name.family].corpora)
        raise DataError(str(name), f"no corpus {name.corpus!r}", f"one of {names}")
    return corpus


def _of_corpus(name: DataName, split: str) -> RemoteFile:
    if name.version:
        raise DataError(str(name), f"the version {name.version}", f"none: {name.family}:{name.corpus}/{split}")
    corpus = _known(name)
    url = registry()[name.family].url.format(file=corpus.splits[split])
    return RemoteFile(name, url, f"{name.corpus}/{split}.conll", corpus.sha256.get(split))


def _of_treebank(name: DataName, split: str) -> RemoteFile:
    """Its file has the name that files of treebanks have since UD 2.2."""
    family = registry()["ud"]
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
    digests = corpus.sha256 if (corpus := known(name)) else {}
    path = f"{name.corpus}/{name.version}/{file}"
    return RemoteFile(name, url, path, digests.get(f"{name.version}/{split}"))


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
    """The file of a corpus's split, fetched unless it is there, with the digest that it is to have."""
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


_SECONDS = 30  # without a byte
_BLOCK = 1 << 16
_PARTIAL, _COMPLETE = 206, 200
_NOT_FOUND, _BEYOND_THE_END = 404, 416


class Download:
    """A download: what arrives is kept in a partial file, from whose end the next attempt goes on."""

    def __init__(self, partial: Path, file: RemoteFile) -> None:
        self.partial, self.file = partial, file

    def receive(self) -> None:
        """Complete the partial file."""
        try:
            import requests
        except ImportError:
            wanted = "the extra data: pip install '.[data]' in a checkout of tagweave"
            raise self._error("no requests, which fetches files", wanted) from None
        url = self.file.url
        try:
            with requests.Session() as session:
                total = self._receive(session, url)
        except requests.RequestException as error:
            raise self._error(f"no answer of {url} ({type(error).__name__})", self._instead()) from error
        size = self.partial.stat().st_size
        if size < total:
            raise self._error(f"{size:,} of {total:,} bytes of {url}", "all; the same command goes on with the rest")
        if size > total:
            self.partial.unlink()
            raise self._error(f"{size:,} bytes of {url}, written by two programs", f"{total:,}; try again")

    def _receive(self, session: Any, url: str) -> int:
        """Append to the partial file what it lacks; returns the size of the whole."""
        have = self.partial.stat().st_size if self.partial.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with session.get(url, headers=headers, stream=True, timeout=_SECONDS) as answer:
            if answer.status_code == _BEYOND_THE_END:
                self.partial.unlink()
                raise self._error(f"a partial file longer than {url}", "a beginning of it; try again")
            if answer.status_code == _NOT_FOUND:
                raise self._error(f"no file at {url}", "a corpus, release and split that exist")
            if answer.status_code not in (_COMPLETE, _PARTIAL):
                raise self._error(f"the answer {answer.status_code} of {url}", f"{_COMPLETE}")
            answer.raw.enforce_content_length = False  # otherwise the last block of what broke off is lost
            goes_on = answer.status_code == _PARTIAL
            rest = int(answer.headers.get("Content-Length", -1))
            with self.partial.open("ab" if goes_on else "wb") as part:
                for block in answer.iter_content(_BLOCK):
                    part.write(block)
            begin = have if goes_on else 0
            return begin + rest if rest >= 0 else self.partial.stat().st_size

    def _error(self, found: str, expected: str) -> DataError:
        return DataError(str(self.file.name), found, expected)

    def _instead(self) -> str:
        return f"a network, or the file as {self.partial.with_suffix('')}"
