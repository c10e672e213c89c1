"""Which partially annotated sentences to train on (liu-2014, section 2.2).

Free annotation comes from everywhere, and words are split otherwise elsewhere. Sentences that mark a word of the target
text are likely to be of its field and to split it as the target does; a random sample as large is what they are to be
compared with (section 5.2.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.kytea import SEGMENTATION
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.text_blocks import line_blocks
from tagweave.kernels.trie import Trie, code_points

_LETTER: dict[Candidates, str] = {("B",): "B", ("M",): "M", ("E",): "E"}
_WORD = re.compile("BM*E")


def marked_words(sentence: Sentence, layer: str = SEGMENTATION) -> list[str]:
    """The words of two characters and more that the evidence of a sentence of characters settles, in order.

    Words of one character are everywhere, and say nothing of a field.
    """
    letters = "".join(_LETTER.get(candidates, " ") for candidates in sentence.layers.get(layer, ()))
    return ["".join(sentence.forms[word.start() : word.end()]) for word in _WORD.finditer(letters)]


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
    """The sentences of a corpus of characters that mark a word which occurs in the target's raw text.

    Args:
        corpus: partially annotated, its guideline a segmentation in the letters B, M, E, S.
        target: lines of raw text.
    """
    marked = [marked_words(sentence, corpus.guideline) for sentence in corpus]
    known = occurring((word for words in marked for word in words), target)
    kept = (sentence for sentence, words in zip(corpus, marked, strict=True) if not known.isdisjoint(words))
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
