"""Entropies and word probabilities of spans under a chain model, for many spans in one pass of marginals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.kernels import spans
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.coding import to_characters
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain import ChainModel

Floats = NDArray[Any]
Numbers = NDArray[np.int64]


def span_entropies(model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers) -> NDArray[np.float64]:
    """float64[K]: the entropy of the labels of each span, in nats (tsuboi-2008, section 5.1).

    Args:
        model: the model.
        encoded: N tokens.
        start, stop: int64[K], starts rising; span k is the tokens start[k] .. stop[k] - 1 of all N, in one sentence.
    """
    entropies = np.empty(len(start))

    def visit(tokens: slice, gamma: Floats, pairs: Floats) -> None:
        inside = _beginning_in(tokens, start)
        own = (bound[inside] - tokens.start for bound in (start, stop))
        spans.span_entropies(gamma, pairs, *own, entropies[inside])

    with one_blas_thread():
        model.visit_pair_marginals(encoded, visit)
    return entropies


def word_probabilities(model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers) -> NDArray[np.float64]:
    """float64[K]: the probability that each span of characters is a word, with any tag.

    Arguments are those of `span_entropies`.

    Raises:
        ValueError: the labels of the model do not code words.
    """
    probabilities, sets, ptr = np.empty(len(start)), word_sets(model), encoded.sentence_ptr
    sentence = np.searchsorted(ptr, start, side="right") - 1
    bounds = (start, stop, ptr[sentence], ptr[sentence + 1])

    def visit(tokens: slice, gamma: Floats, pairs: Floats) -> None:
        inside = _beginning_in(tokens, start)
        own = (np.asarray(bound[inside] - tokens.start, np.int64) for bound in bounds)
        spans.word_probabilities(gamma, pairs, sets, *own, probabilities[inside])

    with one_blas_thread():
        model.visit_pair_marginals(encoded, visit)
    return probabilities


def word_sets(model: ChainModel) -> NDArray[np.bool_]:
    """bool[6, Y]: the labels of a character before a word, at its beginning, inside, at its end, alone in it, after it.

    Raises:
        ValueError: the labels of the model do not code words.
    """
    space = model.space
    if not model.of_characters or len(space.views) > 1:
        raise ValueError("found labels that are not those of one word coding, expected a model that segments")
    coded = to_characters(Sentence(("xxx", "x")), "coded", model.coding).layers["coded"]
    begin, inside, end, single = (str(candidates[0]) for candidates in coded if candidates)
    letters = ({end, single}, {begin}, {inside}, {end}, {single}, {begin, single})
    return np.array([[split_label(name)[0] in allowed for name in space.names] for allowed in letters])


def _beginning_in(tokens: slice, start: Numbers) -> slice:
    """Which of the spans begin among these tokens."""
    low, high = np.searchsorted(start, (tokens.start, tokens.stop))
    return slice(int(low), int(high))
