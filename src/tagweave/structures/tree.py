"""Dependency trees: a score for every arc. Trees are projective, or may have arcs that cross. Relations of their arcs.

score(tree) = sum over words of arc[head, word] + pair[head, sibling, word]

Pairs of siblings (`kernels.tree`) have scores in projective trees only, if at all. Scores, marginals and gradients
are arrays of all arcs of a batch, by cell, followed by its pairs of siblings. A likelihood multiplies the potential of
its arc; evidence is never about pairs.

Probabilities q of the heads of all words are expectations already: any distribution over trees with these marginals,
including the one nearest to the model, has

    E_q[score] = sum over arcs of q[head, word] arc[head, word]

So this takes the place of the restricted log Z: the loss is E_q[-log p(tree)], which differs from the divergence of the
nearest distribution by its entropy, no function of the scores, and the gradient is E_p - q. Heads say nothing of pairs,
whose probabilities are taken from the trees weighed by the products of q over their arcs. With a probability of 1
everywhere this is the score of a known tree. If no distribution over trees has these marginals, the gradient is as
well defined, but the loss may be negative.

Where arcs may cross, the loss is log det of the Laplacian of the potentials, less the same of those that the evidence
leaves (Koo et al. 2007, Structured Prediction Models via the Matrix-Tree Theorem).

Relations of the arcs of a known tree do not depend on one another: p[y] = exp(score[y]) / Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import pointers
from tagweave.evidence.trees import ArcEvidence, RelationEvidence, are_numbers
from tagweave.kernels import arborescence_sums, arc_features, tree
from tagweave.kernels.arborescence import best_arborescence, k_best
from tagweave.kernels.projective import are_whole_trees
from tagweave.kernels.tree_sums import marginals
from tagweave.structures.loss import Structure

Floats = NDArray[Any]

_LONGEST = 255
"""Words of a sentence whose pairs of siblings have scores. Their number grows with the cube of the length: 22 MB."""


@dataclass(frozen=True)
class TreeBatch:
    """Sentences with their arcs, and pairs of siblings behind them, in one array."""

    evidence: ArcEvidence  # the sentences
    cells: NDArray[np.int64]  # [S + 1], the first arc of each
    # [S + 1], the first pair of siblings of each (`kernels.tree`), counted on from the arcs; the same again of a
    # sentence whose pairs have no scores
    pair_ptr: NDArray[np.int64]

    @property
    def size(self) -> int:
        return int(self.pair_ptr[-1])

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return self.evidence.lengths


def layout(evidence: ArcEvidence, has_siblings: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the arcs and the pairs of each sentence begin, int64[S + 1]."""
    lengths, cells = evidence.lengths, evidence.cells
    pairs = np.where(lengths <= _LONGEST, lengths * (lengths + 1) * (lengths + 2) // 3, 0)
    return cells, cells[-1] + pointers(pairs if has_siblings else np.zeros_like(pairs))


class TreeSums(NamedTuple):
    """The probability of every arc and pair, and log Z of every sentence, float64[S]."""

    marginals: Floats
    log_z: NDArray[np.float64]


class KnownTrees(NamedTuple):
    """The heads and the scores of trees where the evidence allows exactly one tree for each sentence."""

    heads: NDArray[np.int32]
    log_z: NDArray[np.float64]


class ArcGradient:
    """Where the gradient of the scores of arcs and pairs will be."""

    arcs: Floats


class Tree(Structure[Floats, ArcEvidence, TreeBatch, TreeSums | KnownTrees, ArcGradient, Floats]):
    """The structure of projective dependency trees; with `single_root`, the root has exactly one child."""

    contradiction: ClassVar[str] = "no projective tree agrees with the annotation"
    projective: ClassVar[bool] = True

    def __init__(self, single_root: bool = True) -> None:
        self.single_root = single_root

    def batch(self, evidence: ArcEvidence | TreeBatch, scores: Floats) -> TreeBatch:
        """Lay out sentences; pairs of siblings have scores if there are more scores than arcs."""
        if isinstance(evidence, TreeBatch):
            return evidence
        return TreeBatch(evidence, *layout(evidence, len(scores) > evidence.cells[-1]))

    def sentences(self, batch: TreeBatch) -> ArcEvidence:
        return batch.evidence

    def gradient(self, scores: Floats, batch: TreeBatch, into: ArcGradient | None = None) -> ArcGradient:
        return ArcGradient()

    def finish(self, batch: TreeBatch, gradient: ArcGradient) -> Floats:
        return gradient.arcs

    def sums(self, scores: Floats, batch: TreeBatch, allowed: NDArray[np.uint8] | None = None) -> TreeSums:
        marginal, log_z = np.empty(len(scores), scores.dtype), np.empty(len(batch.lengths))
        everything = np.zeros(0, np.uint8) if allowed is None else allowed
        self._set_sums(
            scores, everything, batch.cells, batch.pair_ptr, batch.lengths, self.single_root, marginal, log_z
        )
        return TreeSums(marginal, log_z)

    def restricted_sums(self, scores: Floats, batch: TreeBatch) -> TreeSums | KnownTrees:
        heads = batch.evidence.token_heads
        if (heads < 0).any() or batch.evidence.noise.any():
            return self.restricted_product(scores, batch)
        return KnownTrees(heads, np.add.reduceat(word_scores(scores, batch, heads), pointers(batch.lengths)[:-1]))

    def restricted_product(self, scores: Floats, batch: TreeBatch) -> TreeSums:
        """As `restricted_sums`, but always by the recurrence, unless heads have probabilities."""
        is_posterior = batch.evidence.posterior
        if not is_posterior.any():
            return self.sums(*_under_evidence(scores, batch))
        is_given = is_posterior | _are_known(batch)
        sums = self._expectations(scores, batch)
        if is_given.all():
            return sums
        by_sums = self.sums(*_under_evidence(scores, batch))
        joined = np.where(_by_part(is_given, batch), sums.marginals, by_sums.marginals)
        return TreeSums(joined, np.where(is_given, sums.log_z, by_sums.log_z))

    def _expectations(self, scores: Floats, batch: TreeBatch) -> TreeSums:
        """Sum where the evidence is the marginals: the expected score in place of log Z."""
        share, arcs, expected = allowed_cells(batch), int(batch.cells[-1]), np.zeros_like(scores)
        if len(scores) > arcs:
            expected[:arcs] = _logarithms(share)
            expected = self.sums(expected, batch).marginals
        expected[:arcs] = share
        score = np.where(expected > 0, expected * scores.astype(np.float64), 0)
        of_pairs = np.diff(np.append(0, np.cumsum(score[arcs:]))[batch.pair_ptr - arcs])
        return TreeSums(expected, np.add.reduceat(score[:arcs], batch.cells[:-1]) + of_pairs)

    def add_expectations(
        self, sums: TreeSums | KnownTrees, scores: Floats, batch: TreeBatch, factor: float, gradient: ArcGradient
    ) -> NDArray[np.float64]:
        """Add factor * weight * probabilities to the gradient, which the free sums become; return log Z [S]."""
        weights = batch.evidence.weights
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
        return sums.log_z

    def best(self, scores: Floats, batch: TreeBatch) -> NDArray[np.int32]:
        """int32[n]: the heads of the best trees; -1 where none is allowed (`exclude`)."""
        heads = np.empty(int(batch.lengths.sum()), np.int32)
        self._set_best(scores, batch.cells, batch.pair_ptr, batch.lengths, self.single_root, heads)
        return heads

    def k_best(self, scores: Floats, batch: TreeBatch, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the heads [n, L] of the n <= k best trees of one sentence and their scores, best first."""
        length, arcs = int(batch.lengths[0]), int(batch.cells[-1])
        heads, totals = np.empty((k, length), np.int32), np.empty(k)
        self._set_k_best(scores[:arcs].reshape(length + 1, -1), scores[arcs:], self.single_root, heads, totals)
        exists = totals > -np.inf
        return heads[exists], totals[exists]

    def samples(self, scores: Floats, batch: TreeBatch, n: int, seed: int) -> NDArray[np.int32]:
        """Draw trees head by head, each given those before; every head takes one run of the recurrence."""
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
    _set_k_best = staticmethod(tree.k_best)


def word_scores(scores: Floats, batch: TreeBatch, heads: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[n]: the score of the arc and the pair of every word of whole trees; `heads` is int32[n]."""
    of_words = scores[arc_cells(batch, heads)].astype(np.float64)
    pairs = _pair_cells(batch, heads)
    of_words[pairs >= 0] += scores[pairs[pairs >= 0]]
    return of_words


def add_trees(values: Floats, batch: TreeBatch, heads: NDArray[np.int32], times: Floats) -> None:
    """Add times[n], word by word, to the values of the arcs and pairs of whole trees."""
    added = times.astype(values.dtype)
    pairs = _pair_cells(batch, heads)
    values[arc_cells(batch, heads)] += added
    values[pairs[pairs >= 0]] += added[pairs >= 0]


def _pair_cells(batch: TreeBatch, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[n]: the pair of every word of whole trees, -1 where pairs have no scores."""
    cells = np.full(len(heads), -1, np.int64)
    if batch.pair_ptr[-1] > batch.pair_ptr[0]:
        tree.pair_cells(heads, pointers(batch.lengths), batch.pair_ptr, cells)
    return cells


def _by_part(values: NDArray[Any], batch: TreeBatch) -> NDArray[Any]:
    return np.concatenate([np.repeat(values, np.diff(ptr)) for ptr in (batch.cells, batch.pair_ptr)])


def _under_evidence(scores: Floats, batch: TreeBatch) -> tuple[Floats, TreeBatch, NDArray[np.uint8] | None]:
    """Scores and allowed arcs under the evidence; an arc keeps its likelihood, or the noise, of its potential."""
    share, noise, ptr = allowed_cells(batch), batch.evidence.noise, batch.evidence.position_ptr
    if noise.any():
        of_modifiers = [np.tile(noise[low:high], high - low) for low, high in pairwise(ptr.tolist())]
        share = np.where(share > 0, share, np.concatenate(of_modifiers))
    elif share.dtype == np.uint8:
        return scores, batch, share
    scores = scores.copy()
    scores[: len(share)] += _logarithms(share).astype(scores.dtype)
    return scores, batch, None


def exclude(scores: Floats, batch: TreeBatch) -> None:
    """Set the scores of arcs that the evidence excludes to -inf; add the logarithms of numbers."""
    allowed = allowed_cells(batch)
    if allowed.dtype == np.uint8:
        tree.exclude(scores, allowed)
    else:
        scores[: len(allowed)] += _logarithms(allowed).astype(scores.dtype)


def _logarithms(share: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(share)


def arc_cells(batch: TreeBatch, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[n]: for every token of a batch, the cell of the arc from its head; `heads` is int32[n]."""
    of_root = np.repeat(batch.cells[:-1] + 1 - pointers(batch.lengths)[:-1], batch.lengths)
    cells: NDArray[np.int64] = of_root + np.arange(len(of_root)) + heads * np.repeat(batch.lengths + 1, batch.lengths)
    return cells


def allowed_cells(batch: TreeBatch) -> NDArray[Any]:
    """uint8[cells]: 1 for the arcs of a batch that its evidence allows, else 0; float32 if it has numbers."""
    evidence = batch.evidence
    allowed = np.ones(int(batch.cells[-1]), evidence.allowed.dtype)
    ptr = evidence.allowed_ptr
    heads = evidence.token_heads
    tokens = pointers(batch.lengths)
    for s in range(len(batch.lengths)):
        cells = allowed[batch.cells[s] : batch.cells[s + 1]]
        if ptr[s + 1] > ptr[s]:
            cells[:] = evidence.allowed[ptr[s] : ptr[s + 1]]
        elif batch.lengths[s] and heads[tokens[s]] >= 0:
            n = int(batch.lengths[s]) + 1
            cells[:] = 0
            cells.reshape(n, n)[heads[tokens[s] : tokens[s + 1]], np.arange(1, n)] = 1
    return allowed if are_numbers(allowed) else allowed.astype(np.uint8, copy=False)


def are_whole(evidence: ArcEvidence, structure: Tree) -> NDArray[np.bool_]:
    """bool[S]: whether the known heads of a sentence are one tree of the structure."""
    is_whole = np.empty(len(evidence), np.bool_)
    are_whole_trees(evidence.token_heads, evidence.lengths, structure.single_root, structure.projective, is_whole)
    return is_whole


def _are_known(batch: TreeBatch) -> NDArray[np.bool_]:
    """bool[n]: whether all heads of a sentence are known, without noise."""
    is_known = batch.evidence.token_heads >= 0
    if len(noise := batch.evidence.noise):
        is_known &= np.delete(noise, batch.evidence.position_ptr[:-1]) == 0
    return np.logical_and.reduceat(is_known, pointers(batch.lengths)[:-1])


class FreeTree(Tree):
    """The structure of all dependency trees; arguments as for `Tree`."""

    contradiction: ClassVar[str] = "no tree agrees with the annotation"
    projective: ClassVar[bool] = False

    @staticmethod
    def _set_sums(scores: Floats, allowed: Floats, cells: Any, pair_ptr: Any, *others: Any) -> None:
        arborescence_sums.marginals(scores, allowed, cells, *others)

    @staticmethod
    def _set_best(scores: Floats, cells: Any, pair_ptr: Any, *others: Any) -> None:
        best_arborescence(scores, cells, *others)

    @staticmethod
    def _set_k_best(arcs: Floats, pairs: Floats, *others: Any) -> None:
        k_best(arcs, *others)


def tree_structure(single_root: bool, projective: bool) -> Tree:
    """The structure of projective trees, or of all."""
    return Tree(single_root) if projective else FreeTree(single_root)


class IndependentSums(NamedTuple):
    """float64[A, Y], the probabilities, and float64[A], log Z less the largest score of a position."""

    marginals: NDArray[np.float64]
    log_z: NDArray[np.float64]


class Independent(Structure[Floats, RelationEvidence, RelationEvidence, IndependentSums, Floats, Floats]):
    """The structure of labels that do not depend on one another; its gradient is float64[A, Y]."""

    contradiction: ClassVar[str] = "no label agrees with the annotation"

    def batch(self, evidence: RelationEvidence, scores: Floats) -> RelationEvidence:
        return evidence

    def sentences(self, batch: RelationEvidence) -> RelationEvidence:
        return batch

    def gradient(self, scores: Floats, batch: RelationEvidence, into: Floats | None = None) -> Floats:
        return np.zeros(scores.shape) if into is None else into

    def finish(self, batch: RelationEvidence, gradient: Floats) -> Floats:
        return gradient

    def sums(self, scores: Floats, batch: RelationEvidence) -> IndependentSums:
        return self._sums(scores, np.ones_like(batch.allowed), batch.noise)

    def restricted_sums(self, scores: Floats, batch: RelationEvidence) -> IndependentSums:
        sums = self._sums(scores, batch.allowed, batch.noise)
        if batch.posterior.any():
            rows = np.flatnonzero(batch.posterior)
            q = batch.allowed[rows]
            row_scores = scores[rows].astype(np.float64)
            sums.marginals[rows] = q
            sums.log_z[rows] = (q * (row_scores - row_scores.max(axis=1, keepdims=True))).sum(axis=1)
        return sums

    def _sums(self, scores: Floats, allowed: NDArray[Any], noise: NDArray[np.float64]) -> IndependentSums:
        p, log_z = np.empty(scores.shape), np.empty(len(scores))
        arc_features.label_sums(scores, allowed, noise, p, log_z)
        return IndependentSums(p, log_z)

    def add_expectations(
        self,
        sums: IndependentSums,
        scores: Floats,
        batch: RelationEvidence,
        factor: float,
        gradient: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Add factor * weight * probabilities to the gradient; return log Z of each position."""
        gradient += factor * batch.weights[:, None] * sums.marginals
        return sums.log_z
