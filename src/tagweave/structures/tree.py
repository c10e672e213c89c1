"""Dependency trees: a score for every arc. Trees are projective, or may have arcs that cross (`structures.free_tree`).

score(tree) = sum over words of arc[head, word] + pair[head, sibling, word]

Pairs of siblings (`kernels.siblings`) have scores in projective trees only, if at all. Scores, marginals and gradients
are arrays of all arcs of a batch, by cell, and behind them those of its pairs. A likelihood multiplies the potential of
its arc; evidence says nothing of pairs.

Probabilities q of the heads of all words are expectations as they stand: any distribution over trees with these
marginals, the one nearest to the model's among them, has

    E_q[score] = sum over arcs of q[head, word] arc[head, word]

So this takes the place of the restricted log Z: the loss is E_q[-log p(tree)], which differs from the divergence of the
nearest distribution by its entropy, no function of the scores, and the gradient is E_p - q. Heads say nothing of pairs,
whose probabilities are taken from the trees weighed by the products of q over their arcs. With a probability of 1
everywhere this is the score of a known tree. If no distribution over trees has these marginals, the gradient is as
well defined, but the loss may be negative.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arc_evidence import are_numbers
from tagweave.features.arcs import EncodedArcs
from tagweave.features.ragged import pointers
from tagweave.kernels import k_best_trees, siblings, tree
from tagweave.kernels.tree_sums import marginals

Floats = NDArray[Any]


class Batch(Protocol):
    """Sentences first .. last - 1 of an encoded corpus, with their arcs in one array."""

    @property
    def encoded(self) -> EncodedArcs:
        """The corpus."""
        ...

    @property
    def first(self) -> int:
        """The first sentence."""
        ...

    @property
    def last(self) -> int:
        """The sentence after the last one."""
        ...

    @property
    def ptr(self) -> NDArray[np.int64]:
        """int64[n + 1], the first position of each sentence, from 0."""
        ...

    @property
    def cells(self) -> NDArray[np.int64]:
        """int64[n + 1], the first arc of each sentence, from 0."""
        ...

    @property
    def pair_ptr(self) -> NDArray[np.int64]:
        """int64[n + 1], the first pair of siblings of each sentence, counted on from the arcs."""
        ...

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[n], tokens."""
        ...


class TreeSums(NamedTuple):
    """The probability of every arc and pair, and log Z of every sentence, float64[S]."""

    marginals: Floats
    log_z: NDArray[np.float64]


class KnownTrees(NamedTuple):
    """The heads int32[n] and the scores of trees where the evidence allows exactly one tree for each sentence."""

    heads: NDArray[np.int32]
    log_z: NDArray[np.float64]


class ArcGradient:
    """The gradient of the loss with respect to the scores of arcs and pairs, for the current batch."""

    def __init__(self) -> None:
        self.arcs: Floats = np.zeros(0)


class Tree:
    """The structure of projective dependency trees.

    Args:
        single_root: whether the root has exactly one child.
    """

    contradiction: ClassVar[str] = "no projective tree agrees with the annotation"
    projective: ClassVar[bool] = True

    def __init__(self, single_root: bool = True) -> None:
        self.single_root = single_root

    def sums(self, scores: Floats, batch: Batch, allowed: NDArray[np.uint8] | None = None) -> TreeSums:
        """Sums over all trees, or over those whose arcs are all allowed."""
        marginal, log_z = np.empty(len(scores), scores.dtype), np.empty(len(batch.lengths))
        everything = np.zeros(0, np.uint8) if allowed is None else allowed
        self._set_sums(
            scores, everything, batch.cells, batch.pair_ptr, batch.lengths, self.single_root, marginal, log_z
        )
        return TreeSums(marginal, log_z)

    def restricted_sums(self, scores: Floats, batch: Batch) -> TreeSums | KnownTrees:
        """Sums over the trees that the evidence allows."""
        known = known_heads(batch)
        if (known < 0).any() or _noise(batch).any():
            return self.restricted_product(scores, batch)
        return KnownTrees(known, np.add.reduceat(word_scores(scores, batch, known), pointers(batch.lengths)[:-1]))

    def restricted_product(self, scores: Floats, batch: Batch) -> TreeSums:
        """As `restricted_sums`, but always by the recurrence, unless heads have probabilities."""
        is_posterior = batch.encoded.posterior[batch.first : batch.last]
        if not is_posterior.any():
            return self.sums(*_under_evidence(scores, batch))
        is_given = is_posterior | _are_known(batch)
        sums = self._expectations(scores, batch)
        if is_given.all():
            return sums
        others = self.sums(*_under_evidence(scores, batch))
        joined = np.where(_by_part(is_given, batch), sums.marginals, others.marginals)
        return TreeSums(joined, np.where(is_given, sums.log_z, others.log_z))

    def _expectations(self, scores: Floats, batch: Batch) -> TreeSums:
        """Sums where the evidence is the marginals: the expected score in place of log Z."""
        share, arcs, expected = allowed_cells(batch), int(batch.cells[-1]), np.zeros_like(scores)
        if len(scores) > arcs:
            expected[:arcs] = _logarithms(share)
            expected = self.sums(expected, batch).marginals
        expected[:arcs] = share
        score = np.where(expected > 0, expected * scores.astype(np.float64), 0)
        of_pairs = np.diff(np.append(0, np.cumsum(score[arcs:]))[batch.pair_ptr - arcs])
        return TreeSums(expected, np.add.reduceat(score[:arcs], batch.cells[:-1]) + of_pairs)

    def add_expectations(
        self, sums: TreeSums | KnownTrees, scores: Floats, batch: Batch, factor: float, gradient: ArcGradient
    ) -> float:
        """See `Structure.add_expectations`. The free sums of a batch become its gradient."""
        weights = batch.encoded.weights[batch.first : batch.last]
        if isinstance(sums, KnownTrees):
            add_trees(gradient.arcs, batch, sums.heads, factor * np.repeat(weights, batch.lengths))
        else:
            expected = sums.marginals
            if (weights != 1).any():
                expected *= _by_part(weights, batch).astype(scores.dtype)
            if factor > 0:
                gradient.arcs = expected
            else:
                gradient.arcs -= expected
        return float(weights @ sums.log_z) if np.isfinite(sums.log_z).all() else -np.inf

    def best(self, scores: Floats, batch: Batch) -> NDArray[np.int32]:
        """int32[n]: the heads of the best trees; -1 where none is allowed (`exclude`)."""
        heads = np.empty(int(batch.lengths.sum()), np.int32)
        self._set_best(scores, batch.cells, batch.pair_ptr, batch.lengths, self.single_root, heads)
        return heads

    def k_best(self, scores: Floats, batch: Batch, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """See `Structure.k_best`."""
        length, arcs = int(batch.lengths[0]), int(batch.cells[-1])
        heads, totals = np.empty((k, length), np.int32), np.empty(k)
        self._set_k_best(scores[:arcs].reshape(length + 1, -1), scores[arcs:], self.single_root, heads, totals)
        exists = totals > -np.inf
        return heads[exists], totals[exists]

    def samples(self, scores: Floats, batch: Batch, n: int, seed: int) -> NDArray[np.int32]:
        """See `Structure.samples`; draws trees head by head, each given those before.

        Every head takes one run of the recurrence.
        """
        scores, batch, allowed = _under_evidence(scores, batch)
        size, random = int(batch.lengths[0]) + 1, np.random.default_rng(seed)
        trees = np.empty((n, size - 1), np.int32)
        for tree_heads in trees:
            left = np.ones((size, size), np.uint8) if allowed is None else allowed.copy().reshape(size, size)
            for m in range(1, size):
                of_arcs = self.sums(scores, batch, left.reshape(-1)).marginals[: size * size]
                p = of_arcs.reshape(size, size)[:, m].astype(np.float64)
                head = random.choice(size, p=p / p.sum())
                tree_heads[m - 1] = head
                left[:, m] = np.arange(size) == head
        return trees

    _set_sums = staticmethod(marginals)
    _set_best = staticmethod(tree.best_heads)
    _set_k_best = staticmethod(k_best_trees.k_best)


def word_scores(scores: Floats, batch: Batch, heads: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[n]: what every word of whole trees adds to their scores; `heads` is int32[n]."""
    of_words = scores[arc_cells(batch, heads)].astype(np.float64)
    pairs = _pair_cells(batch, heads)
    of_words[pairs >= 0] += scores[pairs[pairs >= 0]]
    return of_words


def add_trees(values: Floats, batch: Batch, heads: NDArray[np.int32], times: Floats) -> None:
    """Add times[n], word by word, to the values of the arcs and pairs of whole trees."""
    own, pairs = times.astype(values.dtype), _pair_cells(batch, heads)
    values[arc_cells(batch, heads)] += own
    values[pairs[pairs >= 0]] += own[pairs >= 0]


def _pair_cells(batch: Batch, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[n]: the pair of every word of whole trees, -1 where pairs have no scores."""
    cells = np.full(len(heads), -1, np.int64)
    if batch.pair_ptr[-1] > batch.pair_ptr[0]:
        siblings.pair_cells(heads, pointers(batch.lengths), batch.pair_ptr, cells)
    return cells


def _by_part(values: NDArray[Any], batch: Batch) -> NDArray[Any]:
    """Values of sentences, for each of their arcs and pairs."""
    return np.concatenate([np.repeat(values, np.diff(ptr)) for ptr in (batch.cells, batch.pair_ptr)])


def _under_evidence(scores: Floats, batch: Batch) -> tuple[Floats, Batch, NDArray[np.uint8] | None]:
    """Scores and allowed arcs under the evidence; an arc keeps its likelihood, or the noise, of its potential."""
    share, noise = allowed_cells(batch), _noise(batch)
    if noise.any():
        of_modifiers = [np.tile(noise[low:high], high - low) for low, high in pairwise(batch.ptr.tolist())]
        share = np.where(share > 0, share, np.concatenate(of_modifiers))
    elif share.dtype == np.uint8:
        return scores, batch, share
    scores = scores.copy()
    scores[: len(share)] += _logarithms(share).astype(scores.dtype)
    return scores, batch, None


def exclude(scores: Floats, batch: Batch) -> None:
    """Set the scores of arcs that the evidence excludes to -inf; add the logarithms of numbers."""
    allowed = allowed_cells(batch)
    if allowed.dtype == np.uint8:
        tree.exclude(scores, allowed)
    else:
        scores[: len(allowed)] += _logarithms(allowed).astype(scores.dtype)


def _logarithms(share: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(share)


def arc_cells(batch: Batch, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[n]: for every token of a batch, the cell of the arc from its head; `heads` is int32[n]."""
    of_root = np.repeat(batch.cells[:-1] + 1 - pointers(batch.lengths)[:-1], batch.lengths)
    cells: NDArray[np.int64] = of_root + np.arange(len(of_root)) + heads * np.repeat(batch.lengths + 1, batch.lengths)
    return cells


def known_heads(batch: Batch) -> NDArray[np.int32]:
    """int32[n]: the head of every token, negative where the evidence does not allow exactly one."""
    encoded = batch.encoded
    low = int(encoded.position_ptr[batch.first])
    return np.delete(encoded.heads[low : low + int(batch.ptr[-1])], batch.ptr[:-1])


def allowed_cells(batch: Batch) -> NDArray[Any]:
    """uint8[cells]: 1 for the arcs of a batch that its evidence allows, else 0; float32 if it has numbers."""
    encoded, allowed = batch.encoded, np.ones(int(batch.cells[-1]), batch.encoded.allowed.dtype)
    ptr = encoded.allowed_ptr[batch.first : batch.last + 1]
    known, tokens = known_heads(batch), pointers(batch.lengths)
    for s in range(len(batch.lengths)):
        cells = allowed[batch.cells[s] : batch.cells[s + 1]]
        if ptr[s + 1] > ptr[s]:
            cells[:] = encoded.allowed[ptr[s] : ptr[s + 1]]
        elif batch.lengths[s] and known[tokens[s]] >= 0:
            n = int(batch.lengths[s]) + 1
            cells[:] = 0
            cells.reshape(n, n)[known[tokens[s] : tokens[s + 1]], np.arange(1, n)] = 1
    return allowed if are_numbers(allowed) else allowed.astype(np.uint8, copy=False)


def _are_known(batch: Batch) -> NDArray[np.bool_]:
    """bool[n]: whether all heads of a sentence are known, without noise."""
    is_known = known_heads(batch) >= 0
    if len(noise := _noise(batch)):
        is_known &= np.delete(noise, batch.ptr[:-1]) == 0
    return np.logical_and.reduceat(is_known, pointers(batch.lengths)[:-1])


def _noise(batch: Batch) -> NDArray[np.float64]:
    """float64[P]: the noise of the positions of a batch; empty where all evidence is certain."""
    low = int(batch.encoded.position_ptr[batch.first])
    return batch.encoded.noise[low : low + int(batch.ptr[-1])]
