"""Rankings and probabilities beyond the best labels: the k best tag sequences, spans, entropies.

Where every label is its own tag, the k best tag sequences are the chain's. Where several labels project to one
tag (a bundle of two guidelines, seen from one of them), a tag sequence t stands for many label sequences y:

    p(t | x) = sum over y that project to t of p(y | x) = Z(x; labels that project to t) / Z(x)

so its probability is a quotient of the same sums as in the loss. Finding the most probable tag sequence would take
trying all of them; the candidates are the distinct projections of the best label sequences. They are found by Lawler's
division of the space of sequences (1972, "A procedure for computing the k best solutions to discrete optimization
problems"): without the projection of its best sequence, a space falls into one part for each position i, whose
sequences agree with the best one's tags before i and have another tag at i.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.kernels import distributions
from tagweave.labels.coding import to_characters
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import View
from tagweave.labels.spans import SpanArrays, SpanRules
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain import ChainModel, Masks
from tagweave.structures.lockstep import Steps

Floats = NDArray[Any]
Numbers = NDArray[np.int64]


def span_entropies(model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers) -> NDArray[np.float64]:
    """Return float64[K]: the entropy of the labels of each span, in nats (tsuboi-2008, section 5.1).

    Span k is the tokens start[k] .. stop[k] - 1 of all N, in one sentence; starts rise.
    """
    entropies = np.empty(len(start))

    def visit(tokens: slice, gamma: Floats, pairs: Floats) -> None:
        inside = _beginning_in(tokens, start)
        bounds_in_chunk = (bound[inside] - tokens.start for bound in (start, stop))
        distributions.span_entropies(gamma, pairs, *bounds_in_chunk, entropies[inside])

    model.visit_pair_marginals(encoded, visit)
    return entropies


def word_probabilities(
    model: ChainModel, encoded: Encoded, start: Numbers, stop: Numbers, masks: Masks | None = None
) -> NDArray[np.float64]:
    """Return float64[K]: the probability that each span of characters is a word, with any tag."""
    space = model.space
    if not model.of_characters or len(space.views) > 1:
        raise ValueError("found labels that are not those of one word coding, expected a model that segments")
    coded = to_characters(Sentence(("xxx", "x")), "coded", model.coding).layers["coded"]
    begin, inner, end, single = (str(candidates[0]) for candidates in coded if candidates)
    # the labels before a word, at its beginning, inside, at its end, alone in it, after it
    letters = ({end, single}, {begin}, {inner}, {end}, {single}, {begin, single})
    sets = np.array([[split_label(name)[0] in allowed for name in space.names] for allowed in letters])
    probabilities = np.empty(len(start))
    ptr = encoded.sentence_ptr
    sentence = np.searchsorted(ptr, start, side="right") - 1
    bounds = (start, stop, ptr[sentence], ptr[sentence + 1])

    def visit(tokens: slice, gamma: Floats, pairs: Floats) -> None:
        inside = _beginning_in(tokens, start)
        bounds_in_chunk = (np.asarray(bound[inside] - tokens.start, np.int64) for bound in bounds)
        distributions.word_probabilities(gamma, pairs, sets, *bounds_in_chunk, probabilities[inside])

    model.visit_pair_marginals(encoded, visit, masks)
    return probabilities


class ProbableSpan(NamedTuple):
    """A chunk: the tokens start .. stop - 1 of a sentence, its type, and the probability of both together."""

    start: int
    stop: int
    label: str
    probability: float


def probable_spans(gamma: Floats, pairs: Floats, names: Sequence[str], least: float) -> list[ProbableSpan]:
    """Return all chunks of a sentence with a probability of at least `least`, exactly, the most probable first.

    A chain's posterior is a chain. With [i > j] = 1 if a chunk goes on from label i to label j (B or I, then I or E, of
    one type; so in IOB1, IOB2 and BIOES), for a chunk of tokens a .. b:

        v[a, j] = gamma[a, j] - sum_i [i > j] pairs[a, i, j]
        v[t, j] = sum_i [i > j] v[t-1, i] pairs[t, i, j] / gamma[t-1, i]
        P = sum_j v[b, j] - sum_j v[b+1, j]
    """
    spans = [
        span
        for kind in dict.fromkeys(split_label(name)[1] for name in names)
        if kind
        for span in _of_type(gamma, pairs, names, kind, least)
    ]
    return sorted(spans, key=lambda chunk: (-chunk.probability, chunk))


def chunk_probabilities(steps: Steps, rules: SpanRules, chunks: SpanArrays, ends: Numbers) -> NDArray[np.float64]:
    """Return float64[C]: the probability of each chunk with its type, by the recurrence of `probable_spans`.

    Chunks are of n tokens, and ends[c] is the end of the sentence of chunk c. All are followed at once, token by token,
    and only among the labels of their types, which are labels of one view: `rules` say what each of the Y labels means
    there, so a probability sums over all label sequences that project to the chunk.
    """
    of_types = [np.flatnonzero(rules.type[:-1] == kind) for kind in range(len(rules.types))]
    most = max(map(len, of_types), default=1)
    padded = np.array([np.resize(numbers, most) for numbers in of_types], np.int64).reshape(-1, most)
    is_label = np.arange(most) < np.array([len(numbers) for numbers in of_types]).reshape(-1, 1)
    labels, used = padded[chunks.types], is_label[chunks.types]
    lengths = chunks.stops - chunks.starts

    def inner(at: Numbers, which: Numbers) -> Floats:
        rows = labels[which]
        allowed = rules.follows[rows[:, :, None], rows[:, None, :]] & used[which][:, :, None] & used[which][:, None, :]
        return np.asarray(steps.pairs(at, rows) * allowed, np.float64)

    def reached(at: Numbers, which: Numbers) -> Floats:
        return np.where(used[which], steps.gamma[at[:, None], labels[which]], 0.0)

    everyone = np.arange(len(lengths))
    probabilities = np.zeros(len(lengths))
    v = np.maximum(reached(chunks.starts, everyone) - inner(chunks.starts, everyone).sum(axis=1), 0.0)
    for step in range(1, int(lengths.max(initial=0)) + 1):
        which = np.flatnonzero(lengths >= step)
        at = chunks.starts[which] + step
        going_on = np.zeros((len(which), most))
        inside = at < ends[which]
        at, some = at[inside], which[inside]
        tiny = np.finfo(steps.gamma.dtype).tiny
        share = v[some] / np.maximum(reached(at - 1, some), tiny)
        going_on[inside] = np.einsum("ci,cij->cj", share, inner(at, some))
        done = which[lengths[which] == step]
        probabilities[done] = v[done].sum(axis=1) - going_on[lengths[which] == step].sum(axis=1)
        v[which] = going_on
    return probabilities


def continuing(pairs: Floats, names: Sequence[str]) -> Floats:
    """Return [L, Y]: the probability that a token has a label and goes on with the chunk before it."""
    parts = [split_label(name) for name in names]
    goes_on = np.array([[a in "BI" and b in "IE" and kind == other for b, other in parts] for a, kind in parts])
    inner: Floats = (pairs * goes_on).sum(axis=1)
    return inner


def _of_type(gamma: Floats, pairs: Floats, names: Sequence[str], kind: str, least: float) -> Iterator[ProbableSpan]:
    labels_of_type = [number for number, name in enumerate(names) if split_label(name)[1] == kind]
    letters = [split_label(names[number])[0] for number in labels_of_type]
    goes_on = np.array([[one in "BI" and other in "IE" for other in letters] for one in letters])
    gamma = gamma[:, labels_of_type]
    inner = pairs[:, labels_of_type][:, :, labels_of_type] * goes_on
    begins = np.maximum(gamma - inner.sum(axis=1), 0)
    steps = inner[1:] / np.maximum(gamma[:-1], np.finfo(gamma.dtype).tiny)[:, :, None]
    for start in np.flatnonzero(begins.sum(axis=1) >= least).tolist():
        v = begins[start]
        stop = start + 1
        while (reached := float(v.sum())) >= least:
            v = v @ steps[stop - 1] if stop < len(gamma) else np.zeros_like(v)
            if (probability := reached - float(v.sum())) >= least:
                yield ProbableSpan(start, stop, kind, probability)
            stop += 1


def _beginning_in(tokens: slice, start: Numbers) -> slice:
    low, high = np.searchsorted(start, (tokens.start, tokens.stop))
    return slice(int(low), int(high))


@dataclass(frozen=True)
class RankedLabels:
    """One of the best label sequences of a sentence."""

    labels: tuple[str, ...]  # one per token
    probability: float  # the probability of the whole sequence


def ranked(model: ChainModel, sentence: Encoded, sets: LabelSets, view: View, k: int) -> list[RankedLabels]:
    """Return the n <= k best tag sequences of an encoded sentence that its evidence allows, the most probable first.

    If labels share a tag, these are the tag sequences of the best label sequences. `sets` may grow.
    """
    if k < 1:
        raise ValueError(f"found k = {k}, expected 1 or more")
    if view.is_identity:
        tags, scores = model.k_best(sentence, 0, k, sets.masks)
        _, log_z = model.marginals(sentence, sets.masks)
        logarithms = scores - log_z[0]
    else:
        division = _Division(model, sentence, sets, view)
        tags = division.best(k)
        logarithms = division.log_probabilities(tags)
    order = np.argsort(-logarithms, kind="stable")
    probabilities = np.minimum(np.exp(logarithms), 1).tolist()
    return [RankedLabels(tuple(view.names[tag] for tag in tags[i]), probabilities[i]) for i in order]


class _Division:
    """The label sequences of a sentence, divided into parts by their tags, with a queue of the best of each part."""

    def __init__(self, model: ChainModel, sentence: Encoded, sets: LabelSets, view: View) -> None:
        self._model, self._sentence, self._sets, self._view = model, sentence, sets, view
        self._queue: list[tuple[float, int, list[int], list[int], int]] = []
        self._parts = 0

    def best(self, k: int) -> NDArray[Any]:
        """[n, L], n <= k: the distinct tag sequences of the best label sequences, best first."""
        sequences: list[list[int]] = []
        self._add([(self._sentence.evidence.sets.tolist(), 0)])
        while self._queue and len(sequences) < k:
            _, _, tags, allow, first = heappop(self._queue)
            sequences.append(tags)
            if len(sequences) < k:
                self._add(self._divided(tags, allow, first))
        return np.array(sequences, np.int32).reshape(len(sequences), self._sentence.tokens)

    def log_probabilities(self, tags: NDArray[Any]) -> NDArray[np.float64]:
        """Return float64[n]: log p of tag sequences [n, L] under the evidence, log Z of the tags minus log Z."""
        allow = self._sentence.evidence.sets.tolist()
        tag_sets = [[self._with_tag(*pair) for pair in zip(allow, row, strict=True)] for row in tags.tolist()]
        _, log_z = self._model.marginals(self._copies([allow, *tag_sets]), self._sets.masks)
        return np.asarray(log_z[1:] - log_z[0])

    def _copies(self, evidence: Sequence[Sequence[int]]) -> Encoded:
        allow = np.array(evidence, np.int32).reshape(-1)
        return self._sentence.take(np.zeros(len(evidence), np.int64)).with_evidence(allow)

    def _divided(self, tags: list[int], allow: list[int], first: int) -> list[tuple[list[int], int]]:
        """Return the parts of a part without its best sequence; its tags before `first` are fixed."""
        parts = []
        prefix = list(allow)
        for i in range(first, len(tags)):
            if left := [label for label in self._sets.labels(allow[i]) if self._view.projection[label] != tags[i]]:
                parts.append(([*prefix[:i], self._sets.of_labels(left), *allow[i + 1 :]], i))
            prefix[i] = self._with_tag(allow[i], tags[i])
        return parts

    def _with_tag(self, number: int, tag: int) -> int:
        """Return the set of those labels of a set that project to a tag."""
        return self._sets.join(number, self._sets.of_labels(np.flatnonzero(self._view.projection == tag)))

    def _add(self, parts: Sequence[tuple[list[int], int]]) -> None:
        """Decode parts, all at once, and queue those that have a sequence."""
        if not parts:
            return
        copies = self._copies([allow for allow, _ in parts])
        length = self._sentence.tokens
        labels = self._model.best(copies, self._sets.masks)
        possible = labels.reshape(len(parts), length).min(axis=1, initial=0) >= 0
        scores = self._model.sequence_scores(copies, np.maximum(labels, 0))
        for number in np.flatnonzero(possible).tolist():
            tags = self._view.projection[labels[number * length : (number + 1) * length]].tolist()
            allow, first = parts[number]
            # the running number breaks ties, so that the order is always the same
            heappush(self._queue, (-float(scores[number]), self._parts, tags, allow, first))
            self._parts += 1
