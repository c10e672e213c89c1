"""What is known of corpora that have names: addresses, licences, splits, digests (`registry.json`).

The digests are from elsewhere than the files: the library `datasets` of Hugging Face has published them
(`dataset_infos.json`), and those of CoNLL-2000 were computed from a copy of the files, too. A file whose digest is not
known is believed when it is fetched for the first time (`cache.py`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from tagweave.corpus.named.errors import DataError
from tagweave.corpus.named.name import DataName

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


class Corpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    corpora: dict[str, Corpus] = {}
    languages: dict[str, str] = {}


@cache
def registry() -> dict[str, Family]:
    """The families by the beginnings of their names."""
    text = files("tagweave.corpus.named").joinpath("registry.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Family])


def remote_file(name: DataName) -> RemoteFile:
    """The file of a corpus's split.

    Raises:
        DataError: there is no such corpus or split, or the version is missing.
    """
    if name.split is None:
        raise DataError(str(name), "no split", f"one of {', '.join(f'{name}/{each}' for each in splits_of(name))}")
    if name.split not in splits_of(name):
        raise DataError(str(name), f"the split {name.split!r}", f"one of {', '.join(splits_of(name))}")
    return _of_treebank(name, name.split) if name.family == "ud" else _of_corpus(name, name.split)


def splits_of(name: DataName) -> tuple[str, ...]:
    """The splits of a corpus. Raises DataError if there is no such corpus."""
    return SPLITS if name.family == "ud" else tuple(_known(name).splits)


def known(name: DataName) -> Corpus | None:
    """What more than the address is known of a corpus, if anything."""
    return registry()[name.family].corpora.get(name.corpus)


def _known(name: DataName) -> Corpus:
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
