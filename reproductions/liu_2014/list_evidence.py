"""What lexicons mark in raw sentences whose words are known, and what they leave open."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.methods import NEW, OWN, UNAMBIGUOUS, Method
from reproductions.liu_2014.partial import partial
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

Numbers = dict[str, Any]


def of_lexicons(domain: Domain) -> Numbers:
    """By the lexicon what it marks in the raw sentences whose words are known; empty where they are not.

    Returns:
        `marked`: words; `right`: those that are words, in percent; `share`: of all words, in percent, those that are
        marked and right; `ones`: of the words, and of those that are not marked, those of one character, in percent.
    """
    if domain.words is None:
        return {}
    return {method.name: _of_lexicon(domain, method, domain.words) for method in (OWN, UNAMBIGUOUS, NEW)}


def _of_lexicon(domain: Domain, method: Method, words: Corpus) -> Numbers:
    marked = partial(domain, method.partial[0], 0)
    spans = {"".join(each.forms): _words_of(each) for each in marked.corpus}
    every = open_ = ones = open_ones = right = 0
    for sentence in words:
        own = spans.get("".join(sentence.forms), set())
        for span in pairwise(accumulate(map(len, sentence.forms), initial=0)):
            one, is_marked = span[1] - span[0] == 1, span in own
            every, ones, right = every + 1, ones + one, right + is_marked
            open_, open_ones = open_ + (not is_marked), open_ones + (one and not is_marked)
    shares = {"right": right / max(marked.marked, 1), "share": right / every}
    return {
        "marked": marked.marked,
        **{name: 100 * share for name, share in shares.items()},
        "ones": [100 * ones / every, 100 * open_ones / max(open_, 1)],
    }


def _words_of(sentence: Sentence) -> set[tuple[int, int]]:
    """Where the words stand that are marked as one word."""
    layer = next(iter(sentence.layers.values()))
    starts = [at for at, each in enumerate(layer) if each == ("B",)]
    return {(at, next(end for end in range(at, len(layer)) if layer[end] == ("E",)) + 1) for at in starts}
