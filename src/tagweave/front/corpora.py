"""Reads and writes corpora."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from tagweave.corpus import load as files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import ACCEPTED, kind_of
from tagweave.exchange import load as exports

Given = Corpus | str | PathLike[str] | Iterable[Any]
"""A corpus, a file argument, or what `Corpus` takes."""


def load(
    argument: str | PathLike[str],
    format: str | None = None,  # noqa: A002
    covers: str | Iterable[str] | None = None,
) -> Corpus:
    """Read the corpus `[GUIDELINE=]PATH[#LAYER]`; `-` is standard input.

    If a layer of labels is named, no other layer of the file counts as annotation. The export of an annotation tool is
    read as `read_documents` reads it, unless it can be read in several ways. By default the format is recognised by the
    name and the text.

    If annotators looked only for some labels, `covers` names these or their types, as `PER,LOC` or a list: `O` then
    excludes only these. `all` overrules a comment in the file.

    Raises:
        CorpusError: a file that does not follow its format, with path and line; an unknown format.
        OSError: the file cannot be read.
        TypeError: not a path.
    """
    if not isinstance(argument, (str, PathLike)):
        raise TypeError(f"found {kind_of(argument)}, expected the path of a corpus; tw.Corpus takes {ACCEPTED}")
    text = fspath(argument)
    corpus = exports.load(text, format).covering(covers)
    guideline = corpus.guideline
    if (
        files.parse_argument(text).layer is None
        or corpus.unit != "word"
        or any(guideline in sentence.heads for sentence in corpus)
    ):
        return corpus
    return corpus.map(lambda sentence: sentence.with_layers_of([guideline]))


def save(corpus: Corpus, path: str | PathLike[str], format: str | None = None) -> None:  # noqa: A002
    """Write a corpus, in the format that the extension names; the file appears whole or not at all.

    Raises:
        TypeError: `corpus` is not a corpus.
        CorpusError: an unknown format, or one that cannot hold the corpus.
        OSError: the file cannot be written.
    """
    if not isinstance(corpus, Corpus):
        raise TypeError(f"found {type(corpus).__name__}, expected a corpus; a model is saved by model.save(path)")
    files.save(corpus, fspath(path), format)


def corpus_of(data: Given) -> Corpus:
    """Return a corpus as it is, read from a file, or made of sentences in Python.

    Raises TypeError for anything else, and as `load`.
    """
    if isinstance(data, Corpus):
        return data
    if isinstance(data, PathLike) or (isinstance(data, str) and "\n" not in data):
        return load(data)
    return Corpus(data)  # type: ignore[arg-type]  # it takes more than it has


def paths(files: str | PathLike[str] | Iterable[str | PathLike[str]]) -> tuple[str, ...]:
    """The paths of one file or several."""
    return (fspath(files),) if isinstance(files, (str, PathLike)) else tuple(fspath(file) for file in files)
