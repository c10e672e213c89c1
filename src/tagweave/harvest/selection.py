"""Selects harvested sentences: all that matter to a target text, or a sample of them (liu-2014, 2.2).

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
    """Return the spans of two or more characters that the evidence of a sentence of characters sets off, in order.

    A marked span lies between two known boundaries, with no other known boundary inside: a word of a lexicon, a span of
    markup, and also the text between two of these. At the ends of the sentence, which are always boundaries, only spans
    that are known to be one word count.
    """
    segmentation = sentence.layers.get(layer, ())
    size = len(segmentation)
    boundaries = (at for at in range(1, size) if _are(segmentation[at - 1], "ES") or _are(segmentation[at], "BS"))
    return [
        "".join(sentence.forms[start:stop])
        for start, stop in pairwise([0, *boundaries, size])
        if stop - start > 1
        and (
            (start and stop < size) or segmentation[start:stop] == tuple((letter,) for letter in letters(stop - start))
        )
    ]


def _are(candidates: Candidates, expected: str) -> bool:
    return candidates is not None and set(candidates) <= set(expected)


def occurring(words: Iterable[str], lines: Iterable[str]) -> frozenset[str]:
    """Return the words that occur in a text, given as its lines; apart from the words, memory is constant.

    As in matching, no word is cut out of a run of letters and digits.
    """
    different = [word for word in dict.fromkeys(words) if word]
    trie, seen = Trie(different, range(len(different))), np.zeros(len(different), np.bool_)
    for block in line_blocks(lines):
        seen[trie.occurrences(code_points("\n".join(block))).word] = True
    return frozenset(different[i] for i in np.flatnonzero(seen))


def selected(corpus: Corpus, target: Iterable[str]) -> Corpus:
    """Return the sentences of a corpus of characters that mark a span which occurs in the lines of a target's raw text.

    The guideline of the corpus is a segmentation in the letters B, M, E, S.
    """
    marked = [marked_spans(sentence, corpus.guideline) for sentence in corpus]
    spans_of_target = occurring((span for spans in marked for span in spans), target)
    kept = (sentence for sentence, spans in zip(corpus, marked, strict=True) if not spans_of_target.isdisjoint(spans))
    return corpus.with_sentences(kept)


def sampled(corpus: Corpus, size: int, seed: int = 0) -> Corpus:
    """Draw `size` of the sentences without replacement, and keep their order; all of them if there are no more."""
    if size >= len(corpus):
        return corpus
    chosen = np.random.default_rng(seed).choice(len(corpus), size, replace=False)
    return corpus.with_sentences(corpus[i] for i in sorted(chosen.tolist()))


@dataclass(frozen=True)
class Selection:
    """Which sentences are kept of a harvest from inputs. Without a choice sentences pass one by one, else all are held.

    Args:
        like: files of raw text; none: every sentence is kept.
        size: how many sentences are drawn; `None`: no sample.
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
        """Yield the sentences that are kept, in their order. Raises as `read_lines` of the raw text."""
        if not self.like and self.size is None:
            yield from sentences
            return
        corpus = Corpus(tuple(sentences), SEGMENTATION, "character")
        if self.like:
            corpus = selected(corpus, (line for path in self.like for line in read_lines(path)))
        yield from corpus if self.size is None else sampled(corpus, self.size, self.seed)
