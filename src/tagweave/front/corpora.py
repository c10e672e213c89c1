"""Reads and writes corpora, and makes partial annotation from lexicons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from tagweave.corpus import load as files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION


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


def harvest_lexicon(
    lines: Iterable[str], *words: Iterable[str], guideline: str = SEGMENTATION, **options: Any
) -> Corpus:
    """Mark words of lexicons in raw text: partial annotation to train on (liu-2014, section 2.1).

    Args:
        lines: lines of raw text.
        words: the words of each lexicon; a word counts where all lexicons find it.
        guideline: the guideline of the words: that of the corpus to train on beside them.
        options: of `tagweave.harvest.matching.LexiconMatcher`: `scheme`, `minimum`, `agree`, `phrases`.

    Returns:
        a corpus of characters with the sentences that contain words of the lexicons; all else in them is unknown.

    Raises:
        ValueError: no lexicon, or a wrong option.
    """
    from tagweave.harvest.annotation import annotated
    from tagweave.harvest.lexicon import parse
    from tagweave.harvest.matching import LexiconMatcher

    if not words or any(isinstance(each, str) for each in words):
        raise ValueError("found no list of words, expected one or several: harvest_lexicon(lines, words)")
    matcher = LexiconMatcher(tuple(map(parse, words)), **options)
    matches = (sentence for sentence, count in annotated(lines, matcher) if count)
    renamed = (replace(each, layers={guideline: each.layers[SEGMENTATION]}) for each in matches)
    return Corpus(tuple(renamed), guideline, "character")
