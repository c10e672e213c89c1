"""Label sequences: a score for every label at every token and for every pair of consecutive labels.

score(y) = sum_t emission[t, y_t] + transition[y_t-1, y_t]  + start[y_0] + end[y_L-1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import Evidence
from tagweave.kernels import chain, decode, distributions
from tagweave.labels.sets import LabelRows, Posteriors
from tagweave.structures.lockstep import Batch, Sums, TransitionScores, Workspace, sum_in_logarithms
from tagweave.structures.loss import LossTerm, Structure

Floats = NDArray[Any]

_SPARSE = 0.25  # share of allowed labels below which lists of them beat a matrix product


class ChainScores(NamedTuple):
    """The scores of a batch of n tokens."""

    emission: Floats  # [n, Y]
    transitions: TransitionScores  # shared by all sentences


class Potentials(NamedTuple):
    """exp(score - shift) by row, [n, Y], 0 for labels that are excluded, and the shift of each row, [n]."""

    E: Floats
    shift: Floats
    lists: chain.Lists = chain.ALL  # the labels that are not; if not all, E is [1, cells] (`chain.Lists`)


@dataclass
class ChainGradient:
    """The gradient of the loss with respect to the scores of chains."""

    emission: Floats  # [n, Y], for the tokens of the last batch
    start: Floats  # [Y], of first labels, summed over batches
    end: Floats  # [Y], of last labels, summed over batches
    potential: Floats  # [Y, Y], of transitions
    pairs: Floats  # [Y, Y], summed over batches; multiplied by the potentials they are expected transitions
    paths: Floats  # [Y, Y], transitions counted one by one, negative

    @classmethod
    def zeros(cls, scores: ChainScores) -> ChainGradient:
        shape, dtype = scores.transitions.score.shape, scores.emission.dtype
        start, end, pairs, paths = (np.zeros(axes, dtype) for axes in (shape[0], shape[0], shape, shape))
        return cls(np.zeros_like(scores.emission), start, end, scores.transitions.potential, pairs, paths)

    @property
    def transition(self) -> Floats:
        """[Y, Y], of consecutive labels (row: from), summed over batches."""
        return self.pairs * self.potential - self.paths

    def merge(self, other: ChainGradient) -> None:
        """Add the sums of another thread over its batches."""
        for name in ("start", "end", "pairs", "paths"):
            mine = getattr(self, name)
            np.add(mine, getattr(other, name), out=mine)


ChainSums = Sums | NDArray[np.int32] | Posteriors
"""Sums over label sequences; the labels [n] where evidence allows one sequence each; or probabilities of labels."""


class Chain(Structure[ChainScores, Evidence, Batch, ChainSums, ChainGradient, ChainGradient]):
    """The structure of label sequences over Y labels. It keeps buffers, so each thread needs one.

    Where evidence gives probabilities of labels (`labels.sets.Posteriors`), the loss is the expected loss of labels
    that are drawn by them, each by itself: log Z under evidence is its mean over draws (`kernels.distributions`).

    Args:
        transitions: whether the gradient has expected transitions.
        edges: whether it has first and last labels.
        terms: terms of the loss beside log Z, such as that of rejected spans (`terms.RejectedSpans`).
    """

    contradiction: ClassVar[str] = "no label sequence agrees with both the annotation and the coding of the labels"

    def __init__(self, transitions: bool = True, edges: bool = True, terms: Sequence[LossTerm] = ()) -> None:
        self.transitions, self.edges, self.terms = transitions, edges, terms
        self._space = Workspace(0, 0, np.float64)
        self._potentials: tuple[Batch, Potentials] | None = None

    def batch(self, evidence: Evidence | Batch, scores: ChainScores | None = None) -> Batch:
        """Lay out sentences, once for all passes over them."""
        return evidence if isinstance(evidence, Batch) else Batch.of(evidence)

    def sentences(self, batch: Batch) -> Evidence:
        return batch.evidence

    def gradient(self, scores: ChainScores, batch: Batch, into: ChainGradient | None = None) -> ChainGradient:
        """Return a gradient of 0; with `into`, the gradient of earlier batches, reset only its emission scores."""
        if into is None:
            return ChainGradient.zeros(scores)
        into.emission = np.zeros_like(scores.emission)
        return into

    def finish(self, batch: Batch, gradient: ChainGradient) -> ChainGradient:
        """Add up the gradient of the scores of first and last labels."""
        if self.edges:
            ptr = batch.evidence.sentence_ptr
            filled = ptr[1:] > ptr[:-1]
            gradient.start += gradient.emission[ptr[:-1][filled]].sum(axis=0)
            gradient.end += gradient.emission[ptr[1:][filled] - 1].sum(axis=0)
        return gradient

    def sums(self, scores: ChainScores, batch: Batch) -> Sums:
        self._potentials = None
        self._make_room(scores)
        return self._sum_product(
            self._free(scores, batch), scores.transitions, batch, lambda tokens: scores.emission[tokens]
        )

    def restricted_sums(self, scores: ChainScores, batch: Batch) -> ChainSums:
        """Sum over the label sequences that the evidence allows; return their labels [n] if each sentence has one.

        Probabilities of labels are returned themselves, since sums over draws make no `Sums`.
        """
        evidence, posteriors = batch.evidence, _rows_of(batch.evidence).posteriors
        if posteriors is not None and (posteriors.of_set[evidence.sets] >= 0).any():
            return posteriors
        log_scales = _rows_of(evidence).log_scales
        of_token = np.zeros(0) if log_scales is None else log_scales[evidence.sets]
        if not len(evidence.noise) and not of_token.any():
            labels: NDArray[np.int32] = _rows_of(evidence).only[evidence.sets]
            if len(labels) and labels.min() >= 0:
                return labels
        sums = self.restricted_product(scores, batch)
        if len(of_token):
            sums.log_z[...] += np.add.reduceat(np.append(of_token, 0), evidence.sentence_ptr[:-1])[batch.order]
        return sums

    def restricted_product(self, scores: ChainScores, batch: Batch) -> Sums:
        """As `restricted_sums`, but always by the recurrence, without the scales of likelihoods or probabilities."""
        evidence = batch.evidence
        rows = _rows_of(evidence).in_precision(scores.emission.dtype)
        return self._under(rows, evidence.sets, evidence.noise, scores, batch)

    def weighted_sums(self, scores: ChainScores, batch: Batch, likelihood: Floats) -> Sums:
        """Sum over all label sequences with the potential of label y at every token multiplied by likelihood[y]."""
        everywhere = np.zeros(len(batch.rows), np.int32)
        return self._under(LabelRows(likelihood[None, :]), everywhere, np.zeros(0), scores, batch)

    def _make_room(self, scores: ChainScores) -> None:
        (rows, labels), dtype, space = scores.emission.shape, scores.emission.dtype.type, self._space
        if space.rows < rows or (space.labels, space.dtype) != (labels, dtype):
            self._space = Workspace(rows + rows // 2 if space.rows else rows, labels, dtype)

    def _under(
        self, rows: LabelRows, sets: NDArray[np.int32], noise: NDArray[np.float64], scores: ChainScores, batch: Batch
    ) -> Sums:
        """Sum under evidence: for every token its set and its noise."""
        self._make_room(scores)
        potentials = self._restricted(rows.masks, sets, noise, scores, batch)
        exact = partial(allowed_scores, scores.emission, rows.masks, sets, noise)
        return self._sum_product(potentials, scores.transitions, batch, exact)

    def _restricted(
        self, masks: Floats, allow: NDArray[np.int32], noise: NDArray[np.float64], scores: ChainScores, batch: Batch
    ) -> Potentials:
        free, n = self._free(scores, batch), len(batch.rows)
        kept = chain.count_allowed(allow, masks, noise)
        shift, evidence = self._space.vector("shift_restricted", n), (allow, masks, noise)
        if kept > _SPARSE * n * masks.shape[1]:
            E = self._space.matrix("restricted", n)
            chain.restrict(free.E, free.shift, scores.emission, batch.rows, *evidence, E, shift)
            return Potentials(E, shift)
        lists, E = self._space.lists(n, kept), self._space.cells("restricted", kept)
        chain.list_restricted(free.E, free.shift, scores.emission, batch.rows, *evidence, lists, E, shift)
        return Potentials(E, shift, lists)

    def add_expectations(
        self,
        sums: ChainSums,
        scores: ChainScores,
        batch: Batch,
        factor: float,
        gradient: ChainGradient,
    ) -> NDArray[np.float64]:
        """Add factor * weight * expected counts to the gradient (it is -1 for paths and draws); return log Z [S].

        Log Z leaves out the scaling of transitions, which is the same in both sums.
        """
        if isinstance(sums, Posteriors):
            return self._follow_draws(sums, scores, batch, gradient)
        if not isinstance(sums, Sums):
            return self._follow(sums, scores, batch, gradient)
        sign = 1 if factor > 0 else -1
        weights = batch.weights if abs(factor) == 1 else batch.weights * abs(factor)
        if (weights != 1).any():
            chain.weigh(sums.gamma, batch.steps, sums.lists, weights)
            chain.weigh(sums.beyond, batch.steps, sums.lists, weights)
        if self.transitions:
            chain.add_pairs(sums.alpha, sums.beyond, batch.steps, sign, sums.lists, gradient.pairs)
        chain.add_rows(sums.gamma, batch.rows, sums.lists, sign, gradient.emission)
        for batch_row, exact in sums.exact.items():
            times, dtype = sign * weights[batch_row], gradient.emission.dtype
            gradient.emission[batch.tokens_of(batch_row)] += (times * exact.gamma).astype(dtype)
            for pairs in exact.pairs() if self.transitions else ():
                gradient.paths[...] -= (times * pairs).astype(dtype)
        log_z = np.zeros(len(batch.evidence))
        log_z[batch.order] = sums.log_z
        return log_z

    @staticmethod
    def best(scores: ChainScores, batch: Batch) -> NDArray[np.int32]:
        """int32[n]: the best label sequence of each sentence, -1 where none is allowed; emission is overwritten."""
        return best_labels(scores, batch.evidence.sentence_ptr)

    @staticmethod
    def k_best(scores: ChainScores, batch: Batch, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the n <= k best label sequences [n, L] of one sentence and their scores, best first."""
        t, length = scores.transitions, len(scores.emission)
        labels, totals = np.empty((k, length), np.int32), np.empty(k)
        if length == 0:
            return labels[:1], np.zeros(1)
        decode.k_best_sequences(scores.emission, t.score, t.start_score, t.end_score, labels, totals)
        count = int(np.isfinite(totals).sum())
        return labels[:count], totals[:count]

    def samples(self, scores: ChainScores, batch: Batch, n: int, seed: int) -> NDArray[np.int32]:
        """Draw labels [n, L] of one sentence from left to right, each given the one before."""
        sums = self.sums(scores, batch) if batch.evidence.rows is None else self.restricted_product(scores, batch)
        pairs, random = pair_marginals(sums, batch, scores.transitions), np.random.default_rng(seed)
        gamma = sums.marginals()
        labels = np.empty((n, len(batch.rows)), np.int32)
        for t in range(len(batch.rows)):
            p = pairs[t, labels[:, t - 1]] if t else np.tile(gamma[batch.rows[0]], (n, 1))
            cumulative = np.cumsum(p, axis=1, dtype=np.float64)
            labels[:, t] = (cumulative <= random.random((n, 1)) * cumulative[:, -1:]).sum(axis=1)
        return labels

    def _free(self, scores: ChainScores, batch: Batch) -> Potentials:
        """The potentials of all labels; cached, since both sums of a batch start from them."""
        if self._potentials is None or self._potentials[0] is not batch:
            E, shift = self._space.matrix("free", len(batch.rows)), self._space.vector("shift", len(batch.rows))
            chain.shift_scores(scores.emission, batch.rows, E, shift)
            self._potentials = batch, Potentials(np.exp(E, out=E), shift)
        return self._potentials[1]

    def _follow(
        self, labels: NDArray[np.int32], scores: ChainScores, batch: Batch, gradient: ChainGradient
    ) -> NDArray[np.float64]:
        """Subtract known paths from the gradient; return their scores, without the scaling of transitions."""
        t, ptr, weights = scores.transitions, batch.evidence.sentence_ptr, batch.evidence.weights
        totals = np.empty(len(weights))
        of_transitions = t.score, t.start_score, t.end_score
        chain.follow_paths(
            scores.emission, labels, ptr, *of_transitions, weights, gradient.emission, gradient.paths, totals
        )
        lengths = np.diff(ptr)
        return np.where(lengths > 0, totals - ((lengths - 1) * t.step + t.edge), 0.0)

    @staticmethod
    def _follow_draws(
        posteriors: Posteriors, scores: ChainScores, batch: Batch, gradient: ChainGradient
    ) -> NDArray[np.float64]:
        """Subtract expected labels from the gradient; return mean log Z, without the scaling of transitions."""
        evidence, rows, transitions = batch.evidence, _rows_of(batch.evidence), scores.transitions
        emission = allowed_scores(scores.emission, rows.masks, evidence.sets, evidence.noise, slice(None))
        if rows.log_scales is not None:
            emission += rows.log_scales[evidence.sets, None]
        of_transitions = transitions.score, transitions.start_score, transitions.end_score
        t = TransitionScores.of_scores(
            *(scores_of_transitions.astype(np.float64) for scores_of_transitions in of_transitions)
        )
        difference, counts = np.zeros(emission.shape), np.zeros(t.score.shape)
        totals, numbers = np.empty(len(evidence)), posteriors.of_set[evidence.sets]
        distributions.follow_draws(
            emission, evidence.sentence_ptr, t.potential, t.start, t.end, numbers, posteriors.group, posteriors.share,
            evidence.weights, difference, counts, totals,
        )  # fmt: skip
        gradient.emission += difference.astype(gradient.emission.dtype)
        gradient.paths += counts.astype(gradient.paths.dtype)
        return totals

    def _sum_product(
        self,
        potentials: Potentials,
        transitions: TransitionScores,
        batch: Batch,
        exact_scores: Callable[[slice], Floats],
    ) -> Sums:
        """Run forward and backward; sum a sentence again, from `exact_scores` [L, Y], if its sums leave their range."""
        space, t, steps = self._space, transitions, batch.steps
        E, shift, lists = potentials
        buffer = partial(space.cells, count=E.size) if len(lists.ptr) else partial(space.matrix, rows=len(E))
        alpha, gamma, beyond = map(buffer, ("alpha", "gamma", "beyond"))
        scale, log_z = space.vector("scale", len(batch.rows)), np.empty(batch.size)
        back, panels = (t.transposed, (t.start[:0],) * 2) if len(lists.ptr) else (t.potential[:0, :0], t.panels)
        chain.forward(E, shift, steps, t.potential, panels[0], t.start, t.end, lists, alpha, scale, log_z)
        chain.backward(E, steps, back, panels[1], t.end, lists, alpha, scale, gamma, beyond)
        sums = Sums(log_z, gamma, alpha, beyond, steps, lists, len(t.start))
        for batch_row in np.flatnonzero(log_z == -np.inf).tolist():
            tokens = batch.tokens_of(batch_row)
            exact = sums.exact[batch_row] = sum_in_logarithms(exact_scores(tokens).astype(np.float64), t)
            # log Z of a batch leaves out the scaling of transitions
            log_z[batch_row] = exact.log_z - (tokens.stop - tokens.start - 1) * t.step - t.edge
            for row in sums.rows_of(batch_row):
                row_cells = np.s_[row] if not len(lists.ptr) else np.s_[0, lists.ptr[row] : lists.ptr[row + 1]]
                gamma[row_cells], alpha[row_cells], beyond[row_cells] = 0, 0, 0
        return sums


def _rows_of(evidence: Evidence) -> LabelRows:
    if evidence.rows is None:
        raise ValueError("found evidence without a table of label sets, expected one (`Evidence.under`)")
    return evidence.rows


def pair_marginals(sums: Sums, batch: Batch, transitions: TransitionScores) -> Floats:
    """[n, Y, Y]: the marginals of each token's label and the one before; 0 at the first token of a sentence."""
    return sums.pairs(transitions.potential)[batch.rows]


def log_partitions(sums: Sums, batch: Batch, transitions: TransitionScores) -> NDArray[np.float64]:
    """float64[S]: log Z of each sentence, with what the scaling of transitions took out; 0 of an empty one."""
    log_z, lengths = np.zeros(len(batch.evidence)), batch.evidence.lengths[batch.order]
    log_z[batch.order] = sums.log_z + (lengths - 1) * transitions.step + transitions.edge
    return log_z


def entropies(sums: Sums, batch: Batch, scores: ChainScores) -> NDArray[np.float64]:
    """float64[S]: the entropy of the label sequences of each sentence, log Z - E[score], by the sums of all of them."""
    t, ptr = scores.transitions, batch.evidence.sentence_ptr
    gamma = sums.marginals()[batch.rows].astype(np.float64)
    expected = sums.expected(t.potential, t.score)[batch.rows]
    filled = ptr[1:] > ptr[:-1]
    expected += _expectation(gamma, scores.emission)
    for at, of_edge in ((ptr[:-1][filled], t.start_score), (ptr[1:][filled] - 1, t.end_score)):
        expected[at] += _expectation(gamma[at], of_edge)
    entropies = log_partitions(sums, batch, t)
    entropies[filled] -= np.add.reduceat(expected, ptr[:-1][filled]) if len(expected) else 0
    return entropies


def _expectation(gamma: Floats, scores: Floats) -> Floats:
    """[n]: the expected scores, without impossible labels."""
    expected: Floats = (gamma * np.where(gamma > 0, scores, 0)).sum(axis=1)
    return expected


def allowed_scores(
    emission: Floats, masks: Floats, allow: NDArray[np.int32], noise: NDArray[np.float64], tokens: slice
) -> NDArray[np.float64]:
    """float64[L, Y]: the scores of some tokens, plus the logarithm of the share that the evidence leaves each label."""
    share = np.asarray(masks[allow[tokens]], np.float64)
    if len(noise):
        share = np.maximum(share, noise[tokens, None])
    return np.where(share > 0, emission[tokens] + np.log(np.where(share > 0, share, 1)), -np.inf)


def best_labels(scores: ChainScores, ptr: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return int32[n]: the best label sequence of each sentence, -1 where none is allowed; emission is overwritten."""
    labels = np.empty(len(scores.emission), np.int32)
    t = scores.transitions
    pairs = t.score, t.transposed_score, t.bounds
    decode.best_sequences(scores.emission, *pairs, t.start_score, t.end_score, ptr, 0, len(ptr) - 1, labels)
    return labels
