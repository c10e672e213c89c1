"""The loss of a chain model's weights on encoded sentences (`structures.loss`), for trainers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.features.encoded import Encoded
from tagweave.kernels import mistakes, weight_vectors
from tagweave.kernels import perceptron as kernels
from tagweave.labels.sets import LabelRows
from tagweave.models.batches import BlockObjective, Order, chunk_bounds, drawn, of_like_length
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.network import NetworkParameters
from tagweave.models.scorer import Blocks, ChainScoring, Floats, ScorerParameters
from tagweave.structures.chain import Chain, ChainGradient
from tagweave.structures.lockstep import Batch
from tagweave.structures.loss import contradiction, loss
from tagweave.structures.terms import WINDOW, CountAtSlope, LabelShare, RejectedSpans, RunningShare, expected_count

BLOCK = 1 << 18
"""Tokens of an iteration that are copied in its order at a time."""
_LARGE_SPACE = 128  # labels from which matrix products gain from batches of sentences of similar length
_VIEWS = 3  # the fewest views that the kernel of perceptron steps takes
_Chunk = tuple[int, int, Batch]  # sentences first .. last - 1, laid out
_ROUND = 960  # the sentences of a block are a multiple, so that batches of most sizes lie in one
_SHARED_WORK = 20_000_000  # tokens x labels x labels of a batch from which threads pay off


class ChainObjective:
    """The loss of a chain model as a function of its weights.

    Sentences whose evidence excludes nothing are left out: their loss and gradient are exactly 0.

    Args:
        parameters: what the weights mean.
        encoded: training sentences with their evidence and the table of their label sets.
        threads: how many threads share a pass. The same number gives bit-identical sums.
        dtype: of weights and sums; log Z is always summed in float64.
        corpora: int32[S], the corpus of every sentence.
        sizes: how many sentences of each corpus an iteration takes (li-2015, Algorithm 1); empty: all.
        share: a penalty on the expected share of some labels. With it, every sentence counts.
    """

    def __init__(
        self,
        parameters: ScorerParameters,
        encoded: Encoded,
        threads: int = 1,
        dtype: type[np.floating[Any]] = np.float64,
        corpora: NDArray[np.int32] | None = None,
        sizes: Sequence[int] = (),
        share: LabelShare | None = None,
    ) -> None:
        evidence = encoded.evidence
        if evidence.rows is None:
            raise ValueError("found evidence without a table of label sets, expected one (`Evidence.under`)")
        informative = evidence.informative() if share is None else np.ones(len(encoded), np.bool_)
        encoded = replace(encoded, evidence=evidence.under(evidence.rows.in_precision(dtype)))
        self.parameters = parameters
        self.encoded = encoded if informative.all() else encoded.take(np.flatnonzero(informative))
        self.threads = threads
        self.dtype = dtype
        self._chunks: list[list[_Chunk]] | None = None
        self._chains: dict[int, Chain] = {}
        self._touched = parameters.touched(self.encoded)
        self._scratch: dict[int, Floats] = {}
        corpus = np.zeros(len(encoded), np.int32) if corpora is None or not sizes else corpora
        self._sizes = tuple(sizes) or (len(self),)
        self._members = [np.flatnonzero(corpus[informative] == c) for c in range(len(self._sizes))]
        self.share = share
        self._running = None if share is None else RunningShare(share)

    @property
    def size(self) -> int:
        return self.parameters.size

    def network(self, weights: Floats) -> Any:
        """Return the module of the network under these weights, whose gradient `add_batch` adds to its parameters'."""
        assert isinstance(self.parameters, NetworkParameters)  # noqa: S101 - the learner is that of networks
        return self.parameters.network(weights)

    def __len__(self) -> int:
        return len(self.encoded)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        scoring = self.parameters.scoring(weights).prepared(self.encoded)
        chunks = self._full_pass()
        with ThreadPoolExecutor(self.threads) as pool:
            slope, penalty = self._penalty(scoring, pool)
            parts = list(pool.map(lambda thread: self._run(scoring.fork(), thread, slope), range(len(chunks))))
        _, gradient, finishing = parts[0]
        for _, thread_gradient, _ in parts[1:]:
            gradient += thread_gradient
        finishing.finish_pass([scoring for _, _, scoring in parts[1:]], self.encoded, gradient)
        return sum(loss for loss, _, _ in parts) + penalty, gradient

    def _run(self, scoring: ChainScoring, thread: int, slope: float | None) -> tuple[float, Floats, ChainScoring]:
        """Return loss and gradient over the batches of one thread, and the scoring that finishes the pass."""
        gradient = np.zeros(self.size, self.dtype)
        total = 0.0
        d_scores: ChainGradient | None = None
        for first, last, batch in self._full_pass()[thread]:
            scores = scoring.scores(self.encoded, first, last)
            losses, batch_gradient = loss(self._chain(thread), scores, batch, self._terms(slope), d_scores)
            scoring.add_gradient(self.encoded, first, last, batch_gradient.emission, gradient)
            total += float(losses.sum())
            d_scores = batch_gradient
        if d_scores is not None:
            scoring.add_transition_gradient(d_scores, gradient)
        return total, gradient, scoring

    def _terms(self, slope: float | None) -> list[CountAtSlope]:
        return [] if self.share is None else [CountAtSlope(self.share.labels, slope or 0.0)]

    def _penalty(self, scoring: ChainScoring, pool: ThreadPoolExecutor) -> tuple[float | None, float]:
        """Return the slope of the penalty on the share over all sentences, and the penalty; `None`, 0 without one."""
        if self.share is None:
            return None, 0.0
        tokens = self._weighted_tokens(0, len(self))
        chunks = self._full_pass()
        count = sum(pool.map(lambda thread: self._expected_count(scoring, thread, chunks[thread]), range(len(chunks))))
        share = count / max(1.0, tokens)
        return self.share.slope(share), self.share.loss(share) * tokens

    def _expected_count(self, scoring: ChainScoring, thread: int, chunks: Sequence[_Chunk]) -> float:
        """Return how many tokens of batches are expected to have the labels of the share."""
        assert self.share is not None  # noqa: S101 - no caller is without one
        structure = self._chain(thread)
        count = 0.0
        for first, last, batch in chunks:
            count += expected_count(structure, scoring.scores(self.encoded, first, last), batch, self.share.labels)
        return count

    def _weighted_tokens(self, first: int, last: int) -> float:
        return float(self.encoded.evidence.weights[first:last] @ self.encoded.lengths[first:last])

    def _slope(self, weights: Floats) -> float | None:
        """Return the slope of the penalty at the running share, which an epoch begins with its first tokens."""
        running = self._running
        if running is None:
            return None
        if not running.tokens:
            last = int(np.searchsorted(self.encoded.sentence_ptr, WINDOW, side="right")) - 1
            bounds = chunk_bounds(self.encoded, len(self.parameters.space))
            ends = [bound for bound in bounds if bound <= max(1, last)]
            ends = ends if len(ends) > 1 else bounds[:2]
            count = self._expected_count(self.parameters.scoring(weights), 0, self._laid_out(ends))
            running.add(count, self._weighted_tokens(ends[0], ends[-1]))
        return running.of.slope(running.share)

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """Add the gradient of sentences first .. last - 1 to `gradient`; return their loss."""
        scoring = self.parameters.scoring(weights).in_training()
        evidence = self.encoded.evidence
        work = (self.encoded.sentence_ptr[last] - self.encoded.sentence_ptr[first]) * len(self.parameters.space) ** 2
        threads = self.threads if work >= _SHARED_WORK and not self.parameters.has_network else 1
        bounds = np.linspace(first, last, threads + 1).astype(int).tolist()
        lows, highs = bounds[:-1], bounds[1:]
        slope = self._slope(weights)
        terms = [self._terms(slope) for _ in lows]
        with nullcontext() if len(lows) == 1 else ThreadPoolExecutor(len(lows)) as pool:
            map_in_threads: Any = pool.map if pool else map
            chains = map(self._chain, range(len(lows)))
            parts = map(evidence.part, lows, highs)
            scores = list(map_in_threads(partial(scoring.scores, self.encoded), lows, highs))
            results = list(map_in_threads(loss, chains, scores, parts, terms))
            emissions = [d_scores.emission for _, d_scores in results]
            # the first thread adds to the gradient itself, others to vectors of zeros
            scratch_gradients = [
                self._scratch.setdefault(i, np.zeros(self.size, self.dtype)) for i in range(1, len(lows))
            ]
            list(
                map_in_threads(
                    partial(scoring.add_gradient, self.encoded), lows, highs, emissions, [gradient, *scratch_gradients]
                )
            )
        total = sum(float(losses.sum()) for losses, _ in results)
        count = sum(term.count for (term,) in filter(None, terms))
        d_scores = results[0][1]
        for i, (_, thread_scores) in enumerate(results[1:], 1):
            d_scores.merge(thread_scores)
            weight_vectors.move(self._scratch[i], *self.touched(lows[i], highs[i]), gradient)
        scoring.add_transition_gradient(d_scores, gradient)
        if self._running is not None:
            tokens = self._weighted_tokens(first, last)
            self._running.add(count, tokens)
            total += self._running.of.loss(self._running.share) * tokens
        return total

    def correct(
        self, weights: Floats, memory: Floats, first: int, last: int, batch: int, step: int, rule: mistakes.StepRule
    ) -> float:
        """Take steps of `batch` sentences each, in place, and return the sum of their costs (`kernels.mistakes`)."""
        parameters = self._linear
        scheme = parameters.scheme
        e = self.encoded
        rows = self._rows
        views = views_of_kernel(parameters, weights)
        vectors = mistakes.Vectors(weights, memory, self._scratch.setdefault(0, np.zeros(self.size, self.dtype)))
        allowed = scheme.transition, scheme.start, scheme.end
        score, start, end = (np.where(is_allowed, 0, -np.inf).astype(weights.dtype) for is_allowed in allowed)
        base = kernels.Transitions(score, start, end, parameters.transitions, parameters.edges)
        features = e.word_types, e.type_ptr, e.type_features, e.type_values, e.grams, e.lead, e.low, e.high
        of_evidence = e.evidence.sets, e.evidence.weights, rows.masks, rows.only
        kernel_sentences = kernels.Sentences(e.sentence_ptr, *features, *of_evidence)
        buffers = _buffers(views, len(parameters.weighted), base, e, first, last)
        cost, impossible = kernels.correct(
            views, vectors, base, kernel_sentences, first, last, batch, step, rule, buffers
        )
        if impossible >= 0:
            raise contradiction(e.evidence.ids[impossible], Chain.contradiction)
        return float(cost)

    @property
    def _rows(self) -> LabelRows:
        assert self.encoded.evidence.rows is not None  # noqa: S101 - the constructor asks for them
        return self.encoded.evidence.rows

    @property
    def _linear(self) -> ChainParameters:
        if not isinstance(self.parameters, ChainParameters):
            expected = "a learner that follows the gradient of a loss"
            raise PlanError(f"found a mistake-driven learner with {self.parameters.kind} scores, expected {expected}")
        return self.parameters

    def touched(self, first: int, last: int) -> Blocks:
        """Return the weights that sentences first .. last - 1 can touch, as blocks start[i] .. stop[i] - 1."""
        return self._touched(first, last)

    def order(self, seed: int, iteration: int, batch: int) -> Order:
        """Return the sentences of an iteration, in the order in which it takes batches of them."""
        order = drawn(self._members, self._sizes, seed, iteration)
        if len(self.parameters.space) < _LARGE_SPACE and not self.parameters.has_network:
            return order
        return of_like_length(order, self.encoded.lengths, batch, seed, iteration)

    def shuffled(self, order: Order) -> ChainObjective | BlockObjective:
        """Return the objective of sentences in this order; of many, only a block is copied at a time."""
        running = None if self.share is None else RunningShare(self.share)

        def copied(block: int) -> ChainObjective:
            other = self._beside(self.parameters, self.encoded.take(order[block * size : (block + 1) * size]))
            # shared: buffers grow as needed
            other._chains, other._scratch, other._running = self._chains, self._scratch, running
            return other

        in_block = max(1, BLOCK * len(self) // max(1, self.encoded.tokens) // _ROUND)
        size = len(order) if self.parameters.has_network else _ROUND * in_block
        if len(order) <= size:
            return copied(0)
        lengths = [min(size, len(order) - first) for first in range(0, len(order), size)]
        return BlockObjective(copied, lengths, self.size, self.dtype, self.threads)

    def with_parameters(self, parameters: ScorerParameters) -> ChainObjective:
        """Return the objective of other parameters over the same label space, for the same sentences."""
        other = self._beside(parameters, self.encoded)
        other._members, other._sizes = self._members, self._sizes
        return other

    def _beside(self, parameters: ScorerParameters, encoded: Encoded) -> ChainObjective:
        return ChainObjective(parameters, encoded, self.threads, self.dtype, share=self.share)

    def _laid_out(self, bounds: Sequence[int]) -> list[_Chunk]:
        chain = self._chain(0)
        evidence = self.encoded.evidence
        return [(low, high, chain.batch(evidence.part(low, high))) for low, high in pairwise(bounds)]

    def _full_pass(self) -> list[list[_Chunk]]:
        """Return the batches of each thread: consecutive sentences, with about as many tokens for each thread."""
        if self._chunks is None:
            bounds = chunk_bounds(self.encoded, len(self.parameters.space))
            chunks = self._laid_out(bounds)
            share = max(1, -(-len(chunks) // self.threads))
            self._chunks = [chunks[i : i + share] for i in range(0, len(chunks), share)] or [[]]
        return self._chunks

    def _chain(self, thread: int) -> Chain:
        if thread not in self._chains:
            parameters = self.parameters
            self._chains[thread] = Chain(
                parameters.transitions, parameters.edges, [RejectedSpans(parameters.space.names)]
            )
        return self._chains[thread]


def views_of_kernel(parameters: ChainParameters, weights: Floats) -> tuple[kernels.ViewWeights, ...]:
    """Return the views with weights, whole labels first, padded to three with copies of the first."""
    ptr = np.result_type(*(layout.ptr for _, layout in parameters.weighted))
    cell = np.result_type(*(layout.cell for _, layout in parameters.weighted))
    weighted = []
    for i, (view, layout) in enumerate(parameters.weighted):
        pairs = np.ones((len(view.names),) * 2, bool)
        if parameters.observed_transitions is not None:
            pairs = np.ascontiguousarray(parameters.observed_transitions[i])
        weights_and_offset = parameters.split(weights)[i], parameters.offsets[i]
        at = layout.ptr.astype(ptr, copy=False), layout.cell.astype(cell, copy=False)
        weighted.append(kernels.ViewWeights(*weights_and_offset, *at, view.projection, view.is_identity, pairs))
    weighted.sort(key=lambda view: not view.labels_are_tags)
    return (*weighted, *[weighted[0]] * (_VIEWS - len(weighted)))


def _buffers(
    views: Sequence[kernels.ViewWeights], count: int, base: kernels.Transitions, e: Encoded, first: int, last: int
) -> kernels.Buffers:
    """Return buffers for steps over sentences first .. last - 1, with the first `count` views."""
    labels = len(base.start)
    dtype = base.score.dtype
    bounds = e.sentence_ptr[first : last + 1]
    tokens = slice(bounds[0], bounds[-1])
    counts = np.diff(e.type_ptr)[e.word_types[tokens]] + int((e.high - e.low + 1).sum())
    features = np.concatenate([[0], np.cumsum(counts)])
    longest = int(np.diff(bounds).max(initial=1))
    most = count * (2 * int(np.diff(features[bounds - bounds[0]]).max(initial=1)) + 2 * longest + 4)
    cells = longest * max(labels, *(len(view.weights.start) for view in views))
    score, transposed = np.empty((2, labels, labels), dtype)
    now = kernels.Scores(score, transposed, np.empty((2, labels), dtype), *np.empty((2, labels), dtype))
    moves = mistakes.Moves(np.empty(most, np.int64), np.empty(most))
    best, target = np.empty((2, len(e.word_types[tokens])), np.int32)
    scores, again, of_view = np.empty((3, cells), dtype)
    return kernels.Buffers(count, now, moves, scores, again, of_view, best, target, np.zeros(last - first, np.int32))
