"""The loss of a chain model's weights on encoded sentences (`structures.loss`), for trainers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels import update
from tagweave.labels.sets import Posteriors
from tagweave.models.chain_scorer import Blocks, ChainScorer, ChainScoring, ScorerParameters
from tagweave.models.label_share import WINDOW, LabelShare, RunningShare
from tagweave.models.sampling import Order, drawn, of_like_length
from tagweave.structures.chain import Chain, ChainScores
from tagweave.structures.expected_count import add_count_gradient, expected_count
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.loss import add_loss
from tagweave.structures.rejected_spans import add_rejection_loss

Floats = NDArray[Any]

_CHUNK_CELLS = 1 << 17  # tokens x labels in a batch of a full pass: its buffers fit the second-level cache
_CHUNK_SENTENCES = 64  # fewest sentences of such a batch, so that its steps are worthwhile matrix products
_LARGE_SPACE = 128  # labels from which matrix products gain from batches of sentences of similar length
_SHARED_WORK = 20_000_000  # tokens x labels x labels of a batch from which threads pay off


class ChainObjective:
    """The loss of a chain model as a function of its weights.

    Sentences whose evidence excludes nothing are left out: their loss and gradient are exactly 0.

    Args:
        parameters: the label space and the weights' meaning, from which scorers are made.
        encoded: training sentences with their evidence.
        masks: [sets, Y], the label sets or likelihoods to which `encoded.allow` refers by number.
        threads: how many threads share a pass. The same number gives bit-identical sums.
        dtype: of weights and sums; log Z is always summed in float64.
        corpora: int32[S], the corpus of every sentence.
        sizes: how many sentences of each corpus an iteration takes (li-2015, Algorithm 1); empty: all.
        share: a penalty on the expected share of some labels. With it, every sentence counts.
        posteriors: the probabilities that some of the sets are to have.
        log_scales: float64[sets], the logarithms of what likelihoods were divided by; `None`: 0.
    """

    def __init__(
        self,
        parameters: ScorerParameters,
        encoded: Encoded,
        masks: NDArray[Any],
        threads: int = 1,
        dtype: type[np.floating[Any]] = np.float64,
        corpora: NDArray[np.int32] | None = None,
        sizes: Sequence[int] = (),
        share: LabelShare | None = None,
        posteriors: Posteriors | None = None,
        log_scales: NDArray[np.float64] | None = None,
    ) -> None:
        informative = encoded.informative() if share is None else np.ones(len(encoded), np.bool_)
        self.parameters = parameters
        self.encoded = encoded if informative.all() else encoded.take(np.flatnonzero(informative))
        self.masks = masks.astype(dtype, copy=False)
        self._only = np.where((masks > 0).sum(axis=1) == 1, masks.argmax(axis=1), -1).astype(np.int32)
        self._posteriors = posteriors
        self._log_scales = log_scales if log_scales is not None and log_scales.any() else None
        self.threads = threads
        self.dtype = dtype
        self._chunks: list[list[Batch]] | None = None
        self._workspaces: dict[int, Workspace] = {}
        self._touched = parameters.touched(self.encoded)
        self._scratch: dict[int, Floats] = {}
        corpus = np.zeros(len(encoded), np.int32) if corpora is None or not sizes else corpora
        self._sizes = tuple(sizes) or (len(self),)
        self._members = [np.flatnonzero(corpus[informative] == c) for c in range(len(self._sizes))]
        self.share = share
        self._running = None if share is None else RunningShare(share)

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.parameters.size

    def __len__(self) -> int:
        return len(self.encoded)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The loss of all sentences and its gradient [size]."""
        scoring = self.parameters.scoring(weights).prepared(self.encoded)
        threads = range(len(self._full_pass()))
        with ThreadPoolExecutor(self.threads) as pool:
            slope, penalty = self._penalty(scoring, pool)
            parts = list(pool.map(lambda thread: self._run(scoring, thread, slope), threads))
        _, gradient, scorer = parts[0]
        for _, others, other in parts[1:]:
            gradient += others
            scorer.merge_pass(other)
        scorer.finish_pass(self.encoded)
        return sum(loss for loss, _, _ in parts) + penalty - self._log_scale(0, len(self)), gradient

    def _log_scale(self, first: int, last: int) -> float:
        """The sum of the logarithms of what the likelihoods of sentences were divided by."""
        if self._log_scales is None:
            return 0.0
        of_token = np.repeat(self.encoded.weights[first:last], self.encoded.lengths[first:last])
        bounds = self.encoded.sentence_ptr[first], self.encoded.sentence_ptr[last]
        return float(of_token @ self._log_scales[self.encoded.allow[slice(*bounds)]])

    def _penalty(self, scoring: ChainScoring, pool: ThreadPoolExecutor) -> tuple[float | None, float]:
        """The slope of the penalty on the share over all sentences, and the penalty; `None`, 0 without one."""
        if self.share is None:
            return None, 0.0
        tokens, parts = self._weighted_tokens(0, len(self)), self._full_pass()
        count = sum(pool.map(lambda thread: self._expected_count(scoring, thread, parts[thread]), range(len(parts))))
        found = count / max(1.0, tokens)
        return self.share.slope(found), self.share.loss(found) * tokens

    def _expected_count(self, scoring: ChainScoring, thread: int, batches: Sequence[Batch]) -> float:
        """How many tokens of batches are expected to have the labels of the share."""
        assert self.share is not None  # noqa: S101 - no caller is without one
        space = self._workspace(thread, max((len(batch.rows) for batch in batches), default=0))
        structure, count = self._chain(thread), 0.0
        for batch in batches:
            scores = ChainScores(space.matrix("scores", len(batch.rows)), scoring.transitions)
            scoring.write(self.encoded, batch.first, batch.last, scores.emission)
            count += expected_count(structure, scores, batch, self.share.labels)
        return count

    def _weighted_tokens(self, first: int, last: int) -> float:
        """The tokens of sentences, each as often as its sentence counts."""
        return float(self.encoded.weights[first:last] @ self.encoded.lengths[first:last])

    def _slope(self, scoring: ChainScoring) -> float | None:
        """The slope of the penalty at the running share, which an epoch begins with the share of its first tokens."""
        running = self._running
        if running is None:
            return None
        if not running.tokens:
            last = int(np.searchsorted(self.encoded.sentence_ptr, WINDOW, side="right")) - 1
            bounds = chunk_bounds(self.encoded, len(self.parameters.space))
            ends = [bound for bound in bounds if bound <= max(1, last)]
            batches = [Batch.of(self.encoded, *pair) for pair in pairwise(ends if len(ends) > 1 else bounds[:2])]
            running.add(
                self._expected_count(scoring, 0, batches), self._weighted_tokens(batches[0].first, batches[-1].last)
            )
        return running.of.slope(running.share)

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """The loss of sentences first .. last - 1; adds its gradient to `gradient`."""
        scoring = self.parameters.scoring(weights)
        work = (self.encoded.sentence_ptr[last] - self.encoded.sentence_ptr[first]) * len(self.parameters.space) ** 2
        bounds = np.linspace(first, last, (self.threads if work >= _SHARED_WORK else 1) + 1).astype(int).tolist()
        batches = [Batch.of(self.encoded, low, high) for low, high in pairwise(bounds)]
        scorers = [
            scoring.scorer(self._scratch_gradient(i, gradient), self._workspace(i, len(batch.rows)))
            for i, batch in enumerate(batches)
        ]

        slope = self._slope(scoring)

        def run(thread: int) -> tuple[float, float]:
            return self._add_loss(scorers[thread], self._chain(thread), batches[thread], slope)

        if len(scorers) == 1:
            loss, count = run(0)
        else:
            with ThreadPoolExecutor(len(scorers)) as pool:
                parts = list(pool.map(run, range(len(scorers))))
            loss, count = (sum(values) for values in zip(*parts, strict=True))
            for i in range(1, len(scorers)):
                scorers[0].merge(scorers[i])
                update.move(self._scratch[i], *self.touched(bounds[i], bounds[i + 1]), gradient)
        scorers[0].finish(gradient)
        if self._running is not None:
            tokens = self._weighted_tokens(first, last)
            self._running.add(count, tokens)
            loss += self._running.of.loss(self._running.share) * tokens
        return loss - self._log_scale(first, last)

    def _scratch_gradient(self, thread: int, gradient: Floats) -> Floats:
        """Where a thread adds its part: the first thread to the gradient itself, others to vectors of zeros."""
        if thread == 0:
            return gradient
        return self._scratch.setdefault(thread, np.zeros(self.size, self.dtype))

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """Perceptron steps of `batch` sentences each over sentences first .. last - 1, in place (`kernels/perceptron`).

        If the best sequence of a sentence contradicts its evidence, the sentence's weight times features(best) -
        features(best allowed) is subtracted from the weights and, times the number of the step, from the totals. Steps
        are numbered from `step`.

        Returns:
            The number of such sentences.

        Raises:
            ContradictionError: no label sequence agrees with the evidence of a mistaken sentence.
        """
        return self.parameters.correct(weights, totals, self.encoded, self.masks, first, last, batch, step)

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """If the best sequence of a sentence contradicts its evidence, adds features(best) - features(best allowed) to
        `gradient`.

        Returns:
            How many labels of the best sequence the evidence excludes, and how often the sentence counts.

        Raises:
            ContradictionError: no label sequence agrees with the evidence of a mistaken sentence.
        """
        weight = float(self.encoded.weights[sentence])
        if weight <= 0:
            return 0, weight
        space = self._workspace(0, int(self.encoded.lengths[sentence]))
        return self.parameters.mistake(weights, self.encoded, self.masks, sentence, gradient, space), weight

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks start[i] .. stop[i] - 1 of the vector."""
        return self._touched(first, last)

    def order(self, seed: int, iteration: int, batch: int) -> Order:
        """The sentences of an iteration, in the order in which it takes batches of them."""
        order = drawn(self._members, self._sizes, seed, iteration)
        if len(self.parameters.space) < _LARGE_SPACE:
            return order
        return of_like_length(order, self.encoded.lengths, batch, seed, iteration)

    def shuffled(self, order: Order) -> ChainObjective:
        """The same objective over these sentences, in this order."""
        encoded = self.encoded.take(order)
        other = self._beside(self.parameters, encoded)
        other._workspaces, other._scratch = self._workspaces, self._scratch  # shared: they grow as needed
        return other

    def with_parameters(self, parameters: ScorerParameters) -> ChainObjective:
        """The objective of other parameters over the same label space, for the same sentences."""
        other = self._beside(parameters, self.encoded)
        other._members, other._sizes = self._members, self._sizes
        return other

    def _beside(self, parameters: ScorerParameters, encoded: Encoded) -> ChainObjective:
        return ChainObjective(
            parameters,
            encoded,
            self.masks,
            self.threads,
            self.dtype,
            share=self.share,
            posteriors=self._posteriors,
            log_scales=self._log_scales,
        )

    def _workspace(self, thread: int, rows: int) -> Workspace:
        """The buffers of a thread, for at least `rows` tokens."""
        if thread not in self._workspaces or self._workspaces[thread].rows < rows:
            self._workspaces[thread] = Workspace(rows + rows // 2, len(self.parameters.space), self.dtype)
        return self._workspaces[thread]

    def _full_pass(self) -> list[list[Batch]]:
        """The batches of every thread: consecutive sentences, with about as many tokens for each thread."""
        if self._chunks is None:
            bounds = chunk_bounds(self.encoded, len(self.parameters.space))
            batches = [Batch.of(self.encoded, low, high) for low, high in pairwise(bounds)]
            share = max(1, -(-len(batches) // self.threads))
            self._chunks = [batches[i : i + share] for i in range(0, len(batches), share)] or [[]]
        return self._chunks

    def _run(self, scoring: ChainScoring, thread: int, slope: float | None) -> tuple[float, Floats, ChainScorer]:
        """The loss and gradient over the batches of one thread; the scorer holds what is added after a full pass."""
        gradient, batches = np.zeros(self.size, self.dtype), self._full_pass()[thread]
        rows = max((len(batch.rows) for batch in batches), default=0)
        scorer = scoring.scorer(gradient, self._workspace(thread, rows))
        structure = self._chain(thread)
        loss = sum((self._add_loss(scorer, structure, batch, slope)[0] for batch in batches), 0.0)
        scorer.finish(gradient)
        return loss, gradient, scorer

    def _add_loss(
        self, scorer: ChainScorer, structure: Chain, batch: Batch, slope: float | None
    ) -> tuple[float, float]:
        """Add the gradient of the loss and of slope times the expected count of labels; returns loss and count."""
        d_scores, scores, count = scorer.gradient(batch), scorer.scores(batch), 0.0
        loss = add_loss(structure, scores, batch, d_scores)
        names, transitions = self.parameters.space.names, self.parameters.transitions
        loss += add_rejection_loss(names, self.masks, scores, batch, d_scores, transitions)
        if self.share is not None and slope:
            count = add_count_gradient(structure, scores, batch, self.share.labels, slope, d_scores)
        elif self.share is not None:
            count = expected_count(structure, scores, batch, self.share.labels)
        scorer.add_gradient(batch, d_scores)
        return loss, count

    def _chain(self, thread: int) -> Chain:
        space = self._workspace(thread, 0)
        return Chain(self.masks, space, self._only, self.parameters.transitions, self._posteriors)


def chunk_bounds(encoded: Encoded, labels: int) -> list[int]:
    """Bounds of batches of about `_CHUNK_CELLS` cells and at least `_CHUNK_SENTENCES` sentences."""
    bounds = [0]
    tokens = max(1, _CHUNK_CELLS // labels)
    while bounds[-1] < len(encoded):
        start = bounds[-1]
        if start + _CHUNK_SENTENCES >= len(encoded):
            return [*bounds, len(encoded)]
        stop = int(np.searchsorted(encoded.sentence_ptr, encoded.sentence_ptr[start] + tokens))
        bounds.append(min(len(encoded), max(stop, start + _CHUNK_SENTENCES)))
    return bounds
