"""Which partially annotated sentences to train on (liu-2014, section 2.2).

Free annotation comes from everywhere, and words are split otherwise elsewhere. Sentences that mark a span of the target
text are likely to be of its field and to split it as the target does; a random sample as large is what they are to be
compared with (section 5.2.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.text_blocks import line_blocks
from tagweave.kernels.trie import Trie, code_points
from tagweave.labels.coding import letters


def marked_spans(sentence: Sentence, layer: str = SEGMENTATION) -> list[str]:
    """What the evidence of a sentence of characters sets off, in order, if it has two characters or more.

    That is what stands between two boundaries that are known, with none between them: a word of a lexicon, a span of
    markup, and also what is between two of these. At the ends of the sentence, which are boundaries anyway, it is only
    what is known to be one word.
    """
    known = sentence.layers.get(layer, ())
    size = len(known)
    places = (at for at in range(1, size) if _are(known[at - 1], "ES") or _are(known[at], "BS"))
    return [
        "".join(sentence.forms[start:stop])
        for start, stop in pairwise([0, *places, size])
        if stop - start > 1 and ((start and stop < size) or known[start:stop] == _word(stop - start))
    ]


def _are(candidates: Candidates, expected: str) -> bool:
    return candidates is not None and set(candidates) <= set(expected)


def _word(length: int) -> tuple[Candidates, ...]:
    return tuple((letter,) for letter in letters(length))


def occurring(words: Iterable[str], lines: Iterable[str]) -> frozenset[str]:
    """Those of the words that occur in a text, given as its lines; constant memory beside the words.

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
        corpus: partially annotated, its guideline a segmentation in the letters B, M, E, S.
        target: lines of raw text.
    """
    marked = [marked_spans(sentence, corpus.guideline) for sentence in corpus]
    known = occurring((span for spans in marked for span in spans), target)
    kept = (sentence for sentence, spans in zip(corpus, marked, strict=True) if not known.isdisjoint(spans))
    return corpus.with_sentences(kept)


def sampled(corpus: Corpus, size: int, seed: int = 0) -> Corpus:
    """`size` of the sentences, drawn without replacement, in their order; all of them where there are no more."""
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
