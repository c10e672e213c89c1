"""Which of the harvested sentences are kept: those that matter to a target text, and of these a sample.

Selecting partially annotated sentences for training (liu-2014, section 2.2).

Free annotation comes from anywhere, and other sources may segment differently. Sentences that mark a span of the target
text are likely to be of its domain and to segment it as the target does. They are compared with a random sample of the
same size (section 5.2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import STANDARD_STREAM, line_blocks, read_lines
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.harvest.options import HarvestError
from tagweave.kernels.trie import Trie, code_points
from tagweave.labels.coding import letters


def marked_spans(sentence: Sentence, layer: str = SEGMENTATION) -> list[str]:
    """The spans of two or more characters that the evidence of a sentence of characters sets off, in order.

    A marked span lies between two known boundaries, with no other known boundary inside: a word of a lexicon, a span of
    markup, and also the text between two of these. At the ends of the sentence, which are always boundaries, only spans
    that are known to be one word count.
    """
    known = sentence.layers.get(layer, ())
    size = len(known)
    boundaries = (at for at in range(1, size) if _are(known[at - 1], "ES") or _are(known[at], "BS"))
    return [
        "".join(sentence.forms[start:stop])
        for start, stop in pairwise([0, *boundaries, size])
        if stop - start > 1 and ((start and stop < size) or known[start:stop] == _word(stop - start))
    ]


def _are(candidates: Candidates, expected: str) -> bool:
    return candidates is not None and set(candidates) <= set(expected)


def _word(length: int) -> tuple[Candidates, ...]:
    return tuple((letter,) for letter in letters(length))


def occurring(words: Iterable[str], lines: Iterable[str]) -> frozenset[str]:
    """The words that occur in a text, given as its lines; apart from the words, memory is constant.

    As in matching, no word is cut out of a run of letters and digits.
    """
    different = [word for word in dict.fromkeys(words) if word]
    trie, seen = Trie(different, range(len(different))), np.zeros(len(different), np.bool_)
    for block in line_blocks(lines):
        seen[trie.occurrences(code_points("\n".join(block))).word] = True
    return frozenset(different[i] for i in np.flatnonzero(seen))


def selected(corpus: Corpus, target: Iterable[str]) -> Corpus:
    """The sentences of a corpus of characters that mark a span which occurs in the target's raw text.

    Args:
        corpus: partially annotated; its guideline is a segmentation in the letters B, M, E, S.
        target: lines of raw text.
    """
    marked = [marked_spans(sentence, corpus.guideline) for sentence in corpus]
    known = occurring((span for spans in marked for span in spans), target)
    kept = (sentence for sentence, spans in zip(corpus, marked, strict=True) if not known.isdisjoint(spans))
    return corpus.with_sentences(kept)


def sampled(corpus: Corpus, size: int, seed: int = 0) -> Corpus:
    """`size` of the sentences, drawn without replacement, in their order; all of them if there are no more."""
    if size >= len(corpus):
        return corpus
    chosen = np.random.default_rng(seed).choice(len(corpus), size, replace=False)
    return corpus.with_sentences(corpus[i] for i in sorted(chosen.tolist()))


def without_duplicates(corpus: Corpus) -> Corpus:
    """The first sentence of each text, whatever the later ones mark in it."""
    first: dict[tuple[str, ...], Sentence] = {}
    for sentence in corpus:
        first.setdefault(sentence.forms, sentence)
    return corpus.with_sentences(first.values())


@dataclass(frozen=True)
class Selection:
    """What is kept of a harvest. Without a choice sentences pass one by one, else all are held.

    Args:
        like: files of raw text; none: every sentence is kept.
        size: how many sentences are drawn; `None`: no sample.
        seed: of the sample.
        inputs: what the sentences are harvested from.

    Raises:
        HarvestError: standard input is to be read twice.
        OSError: raw text that cannot be opened; it is read only when all sentences have come.
    """

    like: tuple[str, ...]
    size: int | None
    seed: int
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        if (*self.like, *self.inputs).count(STANDARD_STREAM) > 1:
            raise HarvestError("found - several times, expected it once: standard input is read once")
        for path in self.like:
            if path != STANDARD_STREAM:
                Path(path).open("rb").close()

    def of(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Those that are kept, in their order. Raises CorpusError, OSError as `read_lines` of the raw text."""
        yield from self._selected(sentences) if self._chooses else sentences

    @property
    def _chooses(self) -> bool:
        return bool(self.like) or self.size is not None

    def _selected(self, sentences: Iterable[Sentence]) -> Iterable[Sentence]:
        corpus = Corpus(tuple(sentences), SEGMENTATION, "character")
        if self.like:
            corpus = selected(corpus, (line for path in self.like for line in read_lines(path)))
        return corpus if self.size is None else sampled(corpus, self.size, self.seed)
