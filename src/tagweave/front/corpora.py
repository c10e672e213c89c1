"""Reads and writes corpora."""

from __future__ import annotations

from os import PathLike, fspath

from tagweave.corpus import load as files
from tagweave.corpus.corpus import Corpus


def load(argument: str | PathLike[str], format: str | None = None) -> Corpus:  # noqa: A002
    """Read the corpus `[GUIDELINE=]PATH[#LAYER]`.

    If a layer of labels is named, no other layer of the file counts as annotation.

    Args:
        argument: as above; `-` is standard input.
        format: the format of the file; by default it is recognised by the name and the text.

    Raises:
        CorpusError: a file that does not follow its format, with path and line; an unknown format.
        OSError: the file cannot be read.
    """
    text = fspath(argument)
    corpus = files.load(text, format)
    if files.parse_argument(text).layer is None or corpus.unit != "word":
        return corpus
    return corpus.map(lambda sentence: sentence.with_layers_of([corpus.guideline]))


def save(corpus: Corpus, path: str | PathLike[str], format: str | None = None) -> None:  # noqa: A002
    """Write a corpus; the file appears whole or not at all.

    Args:
        corpus: the corpus to write.
        path: the path of the file; its extension determines the format.
        format: the format, if the extension does not determine it.

    Raises:
        TypeError: `corpus` is not a corpus.
        CorpusError: an unknown format, or one that cannot hold the corpus.
        OSError: the file cannot be written.
    """
    if not isinstance(corpus, Corpus):
        raise TypeError(f"found {type(corpus).__name__}, expected a corpus; a model is saved by model.save(path)")
    files.save(corpus, fspath(path), format)
