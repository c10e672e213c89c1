"""Query strategies: which occurrences of words in raw text to ask an annotator about (tsuboi-2008, 5.1).

The annotator sees words of a list in their contexts (KWIC; Mori 2006) and decides of each if it is a word. The most
uncertain occurrences teach the model most. Occurrences with the same neighbourhood would teach it the same, so only one
of them is asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.kernels.trie import Trie, code_points
from tagweave.models.chain import ChainModel
from tagweave.models.pieces import of_pieces
from tagweave.models.spans import span_entropies, word_probabilities

STRATEGIES = ("entropy", "marginal", "random")
"""By the entropy of the labels of the span; by how improbable the model finds it that the span is a word; at random."""

_BLOCK = 2000  # sentences, of those with an occurrence, whose marginals are in memory at a time


class Occurrences(NamedTuple):
    """Words in sentences of characters, which may overlap.

    Attributes:
        sentence: int64[K], the numbers of their sentences.
        start, stop: int64[K]; a word is the characters start .. stop - 1, counted over all sentences.
        word: int32[K], the numbers of the words.
    """

    sentence: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    word: NDArray[np.int32]

    def only(self, chosen: slice | NDArray[Any]) -> Occurrences:
        """Some of them, by a slice, a mask or their numbers."""
        return Occurrences(self.sentence[chosen], self.start[chosen], self.stop[chosen], self.word[chosen])


class Ranked(NamedTuple):
    """Occurrences, the most uncertain first, and the uncertainty of each, float64[K]."""

    occurrences: Occurrences
    uncertainty: NDArray[np.float64]


def most_uncertain(
    model: ChainModel,
    sentences: Sequence[Sentence],
    words: Sequence[str],
    strategy: str = "entropy",
    context: int = 2,
    seed: int = 0,
    threads: int = 1,
) -> Ranked:
    """The occurrences of words in sentences of characters, in the order in which to ask an annotator about them.

    Args:
        model: a model of characters, that of the source domain; for `marginal`, of a plain word coding.
        sentences: raw text; their layers are ignored.
        words: different, non-empty words.
        strategy: one of `STRATEGIES`.
        context: of the occurrences of a word with the same `context` characters on each side, only the most uncertain
            is kept.
        seed: seed of the strategy `random`.
        threads: how many threads share the encoding of sentences.

    Raises:
        ValueError: an unknown strategy, a negative context, a model that does not segment, or a model of pieces.
    """
    if context < 0:
        raise ValueError(f"found a context of {context} characters, expected 0 or more")
    found = occurrences(sentences, words)
    uncertainty = uncertainties(model, sentences, found, strategy, seed, threads)
    order = distinct(sentences, found, uncertainty, context)
    return Ranked(found.only(order), uncertainty[order])


def occurrences(sentences: Sequence[Sentence], words: Sequence[str]) -> Occurrences:
    """Every occurrence of each word, by rising start; none begins or ends inside a run of letters or digits."""
    points = code_points("\n".join("".join(sentence.forms) for sentence in sentences))
    start, stop, word = Trie(words, range(len(words))).occurrences(points)
    ends = np.flatnonzero(points == ord("\n"))  # no word contains one
    sentence = np.searchsorted(ends, start)
    return Occurrences(sentence, start - sentence, stop - sentence, word)


def uncertainties(
    model: ChainModel,
    sentences: Sequence[Sentence],
    found: Occurrences,
    strategy: str = "entropy",
    seed: int = 0,
    threads: int = 1,
) -> NDArray[np.float64]:
    """float64[K]: how uncertain each occurrence is, by rising start: entropy in nats, 1 - P(a word), or random.

    Raises:
        ValueError: an unknown strategy, a model that does not segment, or a model of pieces.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    if strategy == "random":
        return np.random.default_rng(seed).random(len(found.start))
    if of_pieces(model):
        raise ValueError("found a model of pieces, expected one of characters: spans may end within a piece")
    uncertainty, begins = np.empty(len(found.start)), _begins(sentences)
    held = np.unique(found.sentence)
    for at in range(0, len(held), _BLOCK):
        block = held[at : at + _BLOCK]
        encoded = model.encoder.encode([sentences[i] for i in block.tolist()], threads)
        inside = slice(*np.searchsorted(found.sentence, (block[0], block[-1] + 1)).tolist())
        own = found.sentence[inside]
        shift = np.asarray(encoded.sentence_ptr[np.searchsorted(block, own)] - begins[own], np.int64)
        start, stop = found.start[inside] + shift, found.stop[inside] + shift
        if strategy == "entropy":
            uncertainty[inside] = span_entropies(model, encoded, start, stop)
        else:
            uncertainty[inside] = 1 - word_probabilities(model, encoded, start, stop)
    return uncertainty


def distinct(
    sentences: Sequence[Sentence], found: Occurrences, uncertainty: NDArray[np.float64], context: int = 2
) -> NDArray[np.int64]:
    """Numbers of occurrences by falling uncertainty, only the first of those with the same word and the same `context`.

    The context ends where the sentence does. Ties keep the order of the text.
    """
    order = np.argsort(-uncertainty, kind="stable")
    points, begins = code_points("".join("".join(sentence.forms) for sentence in sentences)), _begins(sentences)
    own = found.only(order)
    low, high = begins[own.sentence][:, None], begins[own.sentence + 1][:, None]
    beside = np.concatenate([own.start[:, None] + np.arange(-context, 0), own.stop[:, None] + np.arange(context)], 1)
    is_there = (beside >= low) & (beside < high)
    characters = np.where(is_there, points[np.where(is_there, beside, 0)] if len(points) else 0, 0)
    alike = np.concatenate([own.word[:, None], characters], 1).astype(np.int64)
    first = np.unique(alike, axis=0, return_index=True)[1] if len(alike) else np.zeros(0, np.int64)
    return np.asarray(order[np.sort(first)], np.int64)


def _begins(sentences: Sequence[Sentence]) -> NDArray[np.int64]:
    """int64[S + 1]: the number of the first character of every sentence, counted over all."""
    lengths = np.fromiter((len(sentence) for sentence in sentences), np.int64, len(sentences))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
