"""Corpora from files and to files, and partial annotation from lexicons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from tagweave.corpus import load as files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION


def load(argument: str | PathLike[str], format: str | None = None) -> Corpus:  # noqa: A002
    """The corpus that `[GUIDELINE=]PATH[#LAYER]` names.

    A layer of labels that is named is the only one: no other layer of the file counts as annotation then.

    Args:
        argument: as above; `-` is standard input.
        format: of the file, where its name and text do not tell.

    Raises:
        CorpusError: a file that is not what its format says, with path and line; an unknown format.
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
        corpus: what is written.
        path: of the file; its extension tells the format.
        format: where the extension does not.

    Raises:
        CorpusError: an unknown format, or one that cannot hold the corpus.
        OSError: the file cannot be written.
    """
    files.save(corpus, fspath(path), format)


def harvest_lexicon(
    lines: Iterable[str], *words: Iterable[str], guideline: str = SEGMENTATION, **options: Any
) -> Corpus:
    """Raw text in which words of lexicons are marked: partial annotation to train on (liu-2014, section 2.1).

    Args:
        lines: of raw text.
        words: those of each lexicon; a word counts where all lexicons find it.
        guideline: whose words they are: that of the corpus beside which it is to be trained on.
        options: of `tagweave.harvest.matching.LexiconMatcher`: `scheme`, `minimum`, `agree`, `phrases`.

    Returns:
        a corpus of characters, of the sentences in which something was found; the rest of them is open.

    Raises:
        ValueError: no lexicon, or options that there are not.
    """
    from tagweave.harvest.annotation import annotated
    from tagweave.harvest.lexicon import parse
    from tagweave.harvest.matching import LexiconMatcher

    if not words or any(isinstance(each, str) for each in words):
        raise ValueError("found no list of words, expected one or several: harvest_lexicon(lines, words)")
    matcher = LexiconMatcher(tuple(map(parse, words)), **options)
    found = (sentence for sentence, count in annotated(lines, matcher) if count)
    named = (replace(each, layers={guideline: each.layers[SEGMENTATION]}) for each in found)
    return Corpus(tuple(named), guideline, "character")
