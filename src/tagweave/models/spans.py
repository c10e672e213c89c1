"""Entropies and word probabilities of spans under a chain model, and the chunks that one finds probable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.kernels import spans
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.coding import to_characters
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain import ChainModel, Masks

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


def word_probabilities(
    model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers, masks: Masks | None = None
) -> NDArray[np.float64]:
    """float64[K]: the probability that each span of characters is a word, with any tag.

    Arguments are those of `span_entropies`; with `masks`, as `ChainModel.marginals`, under the evidence of `encoded`.

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
        model.visit_pair_marginals(encoded, visit, masks)
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


class ProbableSpan(NamedTuple):
    """A chunk: the tokens start .. stop - 1 of a sentence, its type, and the probability of both together."""

    start: int
    stop: int
    label: str
    probability: float


def probable_spans(gamma: Floats, pairs: Floats, names: Sequence[str], least: float) -> list[ProbableSpan]:
    """All chunks of a sentence with a probability of at least `least`, exactly, the most probable first.

    A chain's posterior is a chain. With [i > j] = 1 if a chunk goes on from label i to label j (B or I, then I or E, of
    one type; so in IOB1, IOB2 and BIOES), for a chunk of tokens a .. b:

        v[a, j] = gamma[a, j] - sum_i [i > j] pairs[a, i, j]
        v[t, j] = sum_i [i > j] v[t-1, i] pairs[t, i, j] / gamma[t-1, i]
        P = sum_j v[b, j] - sum_j v[b+1, j]

    Args:
        gamma, pairs: [L, Y] and [L, Y, Y], as `ChainModel.pair_marginals` gives them.
        names: the Y labels; those without a type code no chunk.
        least: above 0.
    """
    found = [
        span
        for kind in dict.fromkeys(split_label(name)[1] for name in names)
        if kind
        for span in _of_type(gamma, pairs, names, kind, least)
    ]
    return sorted(found, key=lambda each: (-each.probability, each))


def continuing(pairs: Floats, names: Sequence[str]) -> Floats:
    """[L, Y]: the probability that a token has a label and goes on with the chunk before it.

    Args:
        pairs: [L, Y, Y], as `ChainModel.pair_marginals` gives them.
        names: the Y labels.
    """
    parts = [split_label(name) for name in names]
    goes_on = np.array([[a in "BI" and b in "IE" and kind == other for b, other in parts] for a, kind in parts])
    inner: Floats = (pairs * goes_on).sum(axis=1)
    return inner


def _of_type(gamma: Floats, pairs: Floats, names: Sequence[str], kind: str, least: float) -> Iterator[ProbableSpan]:
    own = [number for number, name in enumerate(names) if split_label(name)[1] == kind]
    letters = [split_label(names[number])[0] for number in own]
    goes_on = np.array([[one in "BI" and other in "IE" for other in letters] for one in letters])
    gamma, inner = gamma[:, own], pairs[:, own][:, :, own] * goes_on
    begins = np.maximum(gamma - inner.sum(axis=1), 0)
    steps = inner[1:] / np.maximum(gamma[:-1], np.finfo(gamma.dtype).tiny)[:, :, None]
    for start in np.flatnonzero(begins.sum(axis=1) >= least).tolist():
        v, stop = begins[start], start + 1
        while (reached := float(v.sum())) >= least:
            v = v @ steps[stop - 1] if stop < len(gamma) else np.zeros_like(v)
            if (probability := reached - float(v.sum())) >= least:
                yield ProbableSpan(start, stop, kind, probability)
            stop += 1


def _beginning_in(tokens: slice, start: Numbers) -> slice:
    """Which of the spans begin among these tokens."""
    low, high = np.searchsorted(start, (tokens.start, tokens.stop))
    return slice(int(low), int(high))
