"""Segmentations without text: of every sentence the lengths of its words as one string, a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.labels.coding import letters, to_words

Labels = tuple[str, ...]


def of_words(corpus: Corpus) -> list[str]:
    """The lines of the words of a corpus."""
    return [_line(sentence.forms) for sentence in corpus]


def of_labels(annotations: Iterable[Labels]) -> list[str]:
    """The lines of words that labels B, M, E, S spell."""
    return [_line(to_words(labels, labels)[0]) for labels in annotations]


def labels(lines: Iterable[str]) -> list[Labels]:
    """The labels B, M, E, S of the characters of lines."""
    return [tuple(letter for length in line.split() for letter in letters(int(length))) for line in lines]


def cut(corpus: Corpus, lines: Sequence[str], guideline: str) -> Corpus:
    """The text of a corpus of words in words of these lengths, under a guideline.

    Raises:
        ValueError: as many lines as sentences are expected, or lengths are those of another text.
    """
    words = (Sentence(_cut("".join(old.forms), line)) for old, line in zip(corpus, lines, strict=True))
    return Corpus(tuple(words), guideline, path=corpus.path)


def right(gold: Corpus, lines: Sequence[str]) -> NDArray[np.bool_]:
    """bool[N]: which of the N gold words a system with words of these lengths finds."""
    own = _spans([[len(form) for form in sentence.forms] for sentence in gold])
    return np.isin(own, _spans([list(map(int, line.split())) for line in lines]))


def _spans(lengths: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """int64[N], a number for the span of every word in the text of all sentences."""
    sizes = np.array(list(chain.from_iterable(lengths)), np.int64)
    ends = np.cumsum(sizes)
    return (ends - sizes) * (int(sizes.sum()) + 1) + ends


def _line(words: Iterable[Sequence[str]]) -> str:
    return " ".join(str(len(word)) for word in words)


def _cut(text: str, line: str) -> tuple[str, ...]:
    ends = [0, *accumulate(map(int, line.split()))]
    if ends[-1] != len(text):
        raise ValueError(f"found words of {ends[-1]} characters, expected {len(text)}")
    return tuple(text[start:stop] for start, stop in pairwise(ends))
