"""What a chain model thinks of spans: many of them, in one pass of marginals over the sentences that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.encoding.encoded import Encoded
from tagweave.kernels import spans
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.coding import to_characters
from tagweave.labels.scheme import split_label
from tagweave.models.chain import ChainModel
from tagweave.models.emission import emissions, write_emission
from tagweave.models.lockstep import Batch, Workspace, free_potentials, sum_product
from tagweave.models.objective import chunk_bounds

Floats = NDArray[Any]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Marginals:
    """Of tokens first .. last - 1: gamma [n, Y] and pairs [n, Y, Y], those into the first token of a sentence void."""

    first: int
    last: int
    gamma: Floats
    pairs: Floats


def span_entropies(model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers) -> NDArray[np.float64]:
    """float64[K]: the entropy of the labels of each span, in nats (tsuboi-2008, section 5.1).

    Args:
        model: the model.
        encoded: N tokens.
        start, stop: int64[K], rising starts; span k has the tokens start[k] .. stop[k] - 1 of all N, of one sentence.
    """
    entropies = np.empty(len(start))
    for part, inside in _parts(model, encoded, start):
        offset = part.first
        spans.span_entropies(part.gamma, part.pairs, start[inside] - offset, stop[inside] - offset, entropies[inside])
    return entropies


def word_probabilities(model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers) -> NDArray[np.float64]:
    """float64[K]: the probability that each span of characters is a word, whatever its tag. Arguments as above.

    Raises:
        ValueError: the labels of the model do not code words.
    """
    probabilities, sets, ptr = np.empty(len(start)), word_sets(model), encoded.sentence_ptr
    sentence = np.searchsorted(ptr, start, side="right") - 1
    bounds = (start, stop, ptr[sentence], ptr[sentence + 1])
    for part, inside in _parts(model, encoded, start):
        own = [np.asarray(bound[inside] - part.first, np.int64) for bound in bounds]
        spans.word_probabilities(part.gamma, part.pairs, sets, *own, probabilities[inside])
    return probabilities


def word_sets(model: ChainModel) -> NDArray[np.bool_]:
    """bool[6, Y]: the labels of a character before a word, at its beginning, inside, at its end, alone in it, after it.

    Raises:
        ValueError: the labels of the model do not code words.
    """
    space = model.structure.space
    if not model.coding or len(space.views) > 1:
        raise ValueError("found labels that are not those of one word coding, expected a model that segments")
    coded = to_characters(Sentence(("xxx", "x")), "coded", model.coding).layers["coded"]
    begin, inside, end, single = (str(candidates[0]) for candidates in coded if candidates)
    letters = ({end, single}, {begin}, {inside}, {end}, {single}, {begin, single})
    return np.array([[split_label(name)[0] in allowed for name in space.names] for allowed in letters])


def _parts(model: ChainModel, encoded: Encoded, start: Numbers) -> Iterator[tuple[_Marginals, slice]]:
    """The marginals of one batch of sentences after the other, and which of the spans lie in it."""
    with one_blas_thread():
        for part in _marginals(model, encoded):
            low, high = np.searchsorted(start, (part.first, part.last))
            yield part, slice(int(low), int(high))


def _marginals(model: ChainModel, encoded: Encoded) -> Iterator[_Marginals]:
    labels, dtype = len(model.structure.space), model.weights.dtype.type
    transitions, views = model.structure.transition_scores(model.weights), emissions(model.structure, model.weights)
    tables = [view.kind_table(encoded) for view in views]
    for first, last in pairwise(chunk_bounds(encoded, labels)):
        batch = Batch.of(encoded, first, last)
        scores = np.empty((len(batch.rows), labels), dtype)
        write_emission(views, encoded, first, last, scores, tables)
        space = Workspace(max(1, len(scores)), labels, dtype)
        E, shift, dense = free_potentials(scores, batch, encoded, space)
        sums = sum_product(E, shift, batch, transitions, space, "alpha", scores.__getitem__, dense)
        pairs = sums.before[batch.rows][:, :, None] * sums.beyond[batch.rows][:, None, :] * transitions.potential
        for lane, exact in sums.exact.items():
            at = int(encoded.sentence_ptr[first + batch.order[lane]]) - batch.tokens.start
            for t, pair in enumerate(exact.pairs(), at + 1):
                pairs[t] = pair
        yield _Marginals(batch.tokens.start, batch.tokens.stop, sums.gamma[batch.rows], pairs)
