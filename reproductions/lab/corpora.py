"""Corpora of experiments: in three parts, read from a folder or taken from the bundled sample, cut, and told apart."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import Path
from typing import TypeVar

import numpy as np

from reproductions.lab.code import ROOT
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.errors import CorpusError

T = TypeVar("T")

PARTS = ("train", "dev", "test")


def all_corpora() -> Path:
    """The folder of the real corpora: see README.md of `reproductions`."""
    return Path(os.environ.get("TAGWEAVE_CORPORA", ROOT.parent / "shared" / "corpora"))


def corpora_folder(name: str) -> Path:
    """A folder among them, as `zh/zx`; ends the program with a clear word where it is not there."""
    folder = all_corpora() / name
    if not folder.exists():
        sys.exit(f"no corpora in {folder}: set TAGWEAVE_CORPORA, or take --quick, the bundled sample")
    return folder


@dataclass(frozen=True)
class Parts:
    """A corpus in three parts."""

    train: Corpus
    dev: Corpus
    test: Corpus

    def sizes(self) -> dict[str, list[int]]:
        """How many sentences and tokens each part has."""
        return {name: [len(part), part.tokens()] for name, part in zip(PARTS, self, strict=True)}

    def __iter__(self) -> Iterator[Corpus]:
        return iter((self.train, self.dev, self.test))


def digest(corpus: Corpus) -> str:
    """What tells a corpus from others: its guideline, forms and layers, and of a treebank trees and columns."""
    found = hashlib.sha256(corpus.guideline.encode())
    for sentence in corpus:
        found.update(repr((sentence.forms, sorted(sentence.layers.items()))).encode())
        if corpus.guideline in sentence.heads:
            found.update(repr((sorted(sentence.heads.items()), sorted(sentence.columns.items()))).encode())
    return found.hexdigest()[:12]


def there(folder: Path) -> Path:
    """The folder of a corpus.

    Raises:
        CorpusError: it is not there.
    """
    if not folder.is_dir():
        expected = "train, dev and test; TAGWEAVE_CORPORA names the folder of all corpora, --quick takes the sample"
        raise CorpusError("no such folder", expected, str(folder))
    return folder


def read_parts(folder: Path, guideline: str, layer: str = "") -> Parts:
    """The corpora train, dev and test of a folder, in any format, their layer under the name of the guideline.

    Raises:
        CorpusError: the folder does not have exactly one file of each; and as `load`.
        OSError: a file cannot be read.
    """
    files = [_file(folder, part) for part in PARTS]
    train, dev, test = (load(f"{guideline}={file}{layer and '#'}{layer}") for file in files)
    return Parts(train, dev, test)


def _file(folder: Path, part: str) -> Path:
    found = sorted(folder.glob(f"{part}.*"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "no file"
        raise CorpusError(f"{names} of the name {part}", "one of each of train, dev and test", str(folder))
    return found[0]


@cache
def of_sample(name: str, guideline: str, layer: str = "") -> Corpus:
    """A file of the bundled sample under the name of a guideline, read once: every draw of a setting takes it."""
    return load(f"{guideline}={sample.path(name)}{layer and '#'}{layer}")


def new_words(known: Corpus, *corpora: Corpus) -> tuple[str, ...]:
    """The words of two characters and more that a corpus lacks, sorted: a lexicon, where the sample has no other."""
    seen = {form for sentence in known for form in sentence.forms}
    forms = {form for corpus in corpora for sentence in corpus for form in sentence.forms}
    return tuple(sorted(form for form in forms - seen if len(form) > 1))


def share_of(corpus: Corpus, share: float, seed: int) -> Corpus:
    """A random share of the sentences, in their order."""
    return corpus.with_sentences(drawn(corpus.sentences, share, seed))


def drawn(items: Sequence[T], share: float, seed: int) -> Iterator[T]:
    """A random share of anything, in its order."""
    chosen = np.random.default_rng(seed).permutation(len(items)) < round(share * len(items))
    return compress(items, chosen)


def cut(corpus: Corpus, *ends: int) -> list[Corpus]:
    """The first sentences up to each of the ends, as corpora."""
    return [corpus.with_sentences(corpus.sentences[a:b]) for a, b in zip((0, *ends), ends, strict=False)]
