"""The loss of a tree model on encoded sentences, and its gradient.

    loss(w) = sum over sentences of weight * (log Z(all trees) - log Z(trees that the evidence allows))

over projective trees: the loss of `models.objective`, with arcs for labels. A sentence whose heads are all known has a
second sum of one tree, its score. Where heads are doubted, the second sum is over all trees, and each excluded arc
keeps a share of its potential.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.arcs import EncodedArcs
from tagweave.features.ragged import pointers
from tagweave.kernels import arcs, tree
from tagweave.kernels.arborescence import best_arborescence
from tagweave.kernels.projective import are_projective_trees
from tagweave.kernels.tree_sums import marginals
from tagweave.models.arc_features import ArcBatch, ArcFeatures, batch_bounds
from tagweave.models.loss_sum import ContradictionError
from tagweave.models.mistakes import corrected
from tagweave.models.sampling import drawn

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]

_NEGLIGIBLE = 1e-4  # a probability below which an arc moves no float32 weight


class TreeObjective:
    """The loss of a tree model as a function of its weights: what `learning.trainer.Objective` asks for.

    Sentences whose evidence excludes nothing have loss 0 and gradient 0, exactly: they are left out.

    Args:
        features: what the weights mean.
        encoded: training sentences with their evidence.
        single_root: whether the root has exactly one child.
        threads: how many threads share a full pass. The same number gives the same sums, bit by bit.
        dtype: of weights. With float32 the gradient leaves arcs out whose probability, less what the evidence leaves of
            it, is below 1e-4.

    Raises:
        ContradictionError: a sentence whose heads are all known, and believed, and no projective tree.
    """

    def __init__(
        self,
        features: ArcFeatures,
        encoded: EncodedArcs,
        single_root: bool = True,
        threads: int = 1,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        informative = encoded.informative()
        self.features, self.single_root, self.threads, self.dtype = features, single_root, threads, dtype
        self.encoded = encoded if informative.all() else encoded.take(np.flatnonzero(informative))
        if (no_trees := _no_trees(self.encoded, single_root)).any():
            raise _contradiction(int(np.flatnonzero(informative)[no_trees.argmax()]))
        self._threshold = _NEGLIGIBLE if dtype == np.float32 else 0.0
        self._seen = np.zeros(0, np.int32)
        self._calls = 0
        self._written: tuple[int, int, Floats, NDArray[np.int64]] | None = None

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.features.size

    def __len__(self) -> int:
        return len(self.encoded)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """The loss of all sentences and its gradient [size]."""
        bounds = list(batch_bounds(self.encoded))
        share = max(1, -(-len(bounds) // self.threads))

        def run(thread: int) -> tuple[float, Floats]:
            gradient, loss = np.zeros(self.size, self.dtype), 0.0
            for first, last in bounds[thread * share : (thread + 1) * share]:
                batch = self.features.batch(self.encoded, first, last)
                added, difference = self._loss(weights, batch)
                self.features.add_gradient(gradient, batch, difference, self._threshold)
                loss += added
            return loss, gradient

        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(run, range(self.threads)))
        for _, part in parts[1:]:
            parts[0][1][:] += part
        return sum(loss for loss, _ in parts), parts[0][1]

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """The loss of sentences first .. last - 1; its gradient is added to `gradient`."""
        batch = self.features.batch(self.encoded, first, last)
        loss, difference = self._loss(weights, batch)
        self._write(gradient, batch, difference)
        return loss

    def add_mistakes(self, weights: Floats, first: int, last: int, gradient: Floats) -> int:
        """For each sentence whose best tree contradicts its evidence, add features(best) - features(best allowed),
        times the sentence's weight.

        Returns:
            How many sentences that are.
        """
        batch = self.features.batch(self.encoded, first, last)
        scores = self.features.scores(weights, batch)
        best = best_heads(scores, batch, self.single_root)
        wrong = self._contradicts(batch, best)
        if not wrong.any():
            return 0
        target = self._known(batch)
        if (target < 0).any():
            tree.exclude(scores, allowed_cells(self.encoded, batch))
            target = best_heads(scores, batch, self.single_root)
        if (target[np.repeat(wrong, batch.lengths)] < 0).any():
            raise _contradiction(first, last)
        times = np.repeat(wrong * self.encoded.weights[first:last], batch.lengths)
        difference = np.zeros(batch.size, self.dtype)
        difference[arc_cells(batch, best)] += times
        np.subtract.at(difference, arc_cells(batch, target), times)
        self._write(gradient, batch, difference)
        return int(wrong.sum())

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """Perceptron steps of `batch` sentences each over sentences first .. last - 1; how many were mistaken."""
        return corrected(self, weights, totals, first, last, batch, step)

    def touched(self, first: int, last: int) -> Blocks:
        """The weights that sentences first .. last - 1 can touch, as blocks of the vector.

        Right after these sentences were added to a gradient, and as long as that is not used up, only those that they
        did touch: these are far fewer than the features of all arcs.
        """
        if self._written is not None:
            *own, gradient, rows = self._written
            if own == [first, last] and len(rows) and gradient.reshape(self.features.rows, -1)[rows[0]].any():
                return rows * arcs.BINS, (rows + 1) * arcs.BINS
        batch = self.features.batch(self.encoded, first, last)
        rows = self._rows(batch)
        return rows * arcs.BINS, (rows + 1) * arcs.BINS

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """All sentences, in a random order that is a function of the arguments."""
        return drawn([np.arange(len(self), dtype=np.int64)], [len(self)], seed, iteration)

    def shuffled(self, order: NDArray[np.int64]) -> TreeObjective:
        """The same objective over the sentences in another order (any selection of them)."""
        other = TreeObjective(self.features, self.encoded.take(order), self.single_root, self.threads, self.dtype)
        other._seen, other._calls = self._seen, self._calls
        return other

    def _loss(self, weights: Floats, batch: ArcBatch) -> tuple[float, Floats]:
        """The loss of a batch, and its derivative by the score of every arc."""
        scores = self.features.scores(weights, batch)
        free, free_z = sums(scores, batch, self.single_root)
        own = self.encoded.weights[batch.first : batch.last]
        known = self._known(batch)
        if (known >= 0).all() and not _doubt(self.encoded, batch).any():
            at = arc_cells(batch, known)
            free[at] -= 1
            restricted = np.add.reduceat(scores[at].astype(np.float64), pointers(batch.lengths)[:-1])
        else:
            of_allowed, restricted = restricted_sums(scores, self.encoded, batch, self.single_root)
            free -= of_allowed
        loss = float(own @ free_z)
        if not np.isfinite(loss):  # weights beyond all bounds: not the evidence's fault, and the trainer will say so
            return float("nan"), free
        if not np.isfinite(restricted).all():
            raise _contradiction(batch.first, batch.last)
        if (own != 1).any():
            free *= np.repeat(own, np.diff(batch.cells)).astype(free.dtype)
        return loss - float(own @ restricted), free

    def _known(self, batch: ArcBatch) -> NDArray[np.int32]:
        """int32[n]: the head of every token, below 0 where it is not one."""
        return token_values(self.encoded, batch, self.encoded.heads)

    def _contradicts(self, batch: ArcBatch, heads: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[n]: whether the tree of a sentence has an arc that its evidence excludes."""
        known = self._known(batch)
        if (known >= 0).all():
            wrong = heads != known
        else:
            wrong = allowed_cells(self.encoded, batch)[arc_cells(batch, heads)] == 0
        return np.logical_or.reduceat(wrong, pointers(batch.lengths)[:-1]) & (
            self.encoded.weights[batch.first : batch.last] > 0
        )

    def _write(self, gradient: Floats, batch: ArcBatch, difference: Floats) -> None:
        rows = self.features.add_gradient(gradient, batch, difference, self._threshold)
        self._written = batch.first, batch.last, gradient, rows

    def _rows(self, batch: ArcBatch) -> NDArray[np.int64]:
        """The rows of weights of all features of all arcs, each once."""
        if not len(self._seen):
            self._seen = np.zeros(self.features.rows, np.int32)
        self._calls += 1
        sizes = self.features.templates.sizes
        rows: NDArray[np.int64] = arcs.touched_rows(batch.codes, sizes, batch.ptr, batch.paths, self._seen, self._calls)
        return rows


def best_heads(scores: Floats, batch: ArcBatch, single_root: bool, projective: bool = True) -> NDArray[np.int32]:
    """int32[n]: the heads of the best trees, projective or of any form; -1 where none is allowed."""
    heads = np.empty(int(batch.lengths.sum()), np.int32)
    decode = tree.best_heads if projective else best_arborescence
    decode(scores, batch.cells, batch.lengths, single_root, heads)
    return heads


def sums(
    scores: Floats, batch: ArcBatch, single_root: bool, allowed: NDArray[np.uint8] | None = None
) -> tuple[Floats, NDArray[np.float64]]:
    """The probability of every arc, and log Z of every sentence."""
    marginal, log_z = np.empty(batch.size, scores.dtype), np.empty(len(batch.lengths))
    everything = np.zeros(0, np.uint8) if allowed is None else allowed
    marginals(scores, everything, batch.cells, batch.lengths, single_root, marginal, log_z)
    return marginal, log_z


def restricted_sums(
    scores: Floats, encoded: EncodedArcs, batch: ArcBatch, single_root: bool
) -> tuple[Floats, NDArray[np.float64]]:
    """The same under the evidence, of which doubt leaves a share of every excluded arc."""
    allowed, doubt = allowed_cells(encoded, batch), _doubt(encoded, batch)
    if not doubt.any():
        return sums(scores, batch, single_root, allowed)
    of_modifiers = [np.tile(doubt[low:high], high - low) for low, high in pairwise(batch.ptr.tolist())]
    with np.errstate(divide="ignore"):
        left = np.log(np.maximum(allowed, np.concatenate(of_modifiers)))
    return sums(scores + left.astype(scores.dtype), batch, single_root)


def arc_cells(batch: ArcBatch, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[n]: for every token of a batch the cell of the arc from its head, int32[n]."""
    of_root = np.repeat(batch.cells[:-1] + 1 - pointers(batch.lengths)[:-1], batch.lengths)
    found: NDArray[np.int64] = of_root + np.arange(len(of_root)) + heads * np.repeat(batch.lengths + 1, batch.lengths)
    return found


def token_values(encoded: EncodedArcs, batch: ArcBatch, values: NDArray[Any]) -> NDArray[Any]:
    """The values of the tokens of a batch, from those of all positions."""
    low = int(encoded.position_ptr[batch.first])
    own = values[low : low + int(batch.ptr[-1])]
    return np.delete(own, batch.ptr[:-1])


def _doubt(encoded: EncodedArcs, batch: ArcBatch) -> NDArray[np.float64]:
    """float64[P], that of the positions of a batch; empty where all is believed."""
    low = int(encoded.position_ptr[batch.first])
    return encoded.doubt[low : low + int(batch.ptr[-1])]


def allowed_cells(encoded: EncodedArcs, batch: ArcBatch) -> NDArray[np.uint8]:
    """uint8[cells]: what evidence allows of a batch."""
    allowed = np.ones(batch.size, np.uint8)
    ptr = encoded.allowed_ptr[batch.first : batch.last + 1]
    known = token_values(encoded, batch, encoded.heads)
    tokens = pointers(batch.lengths)
    for s in range(len(batch.lengths)):
        cells = allowed[batch.cells[s] : batch.cells[s + 1]]
        if ptr[s + 1] > ptr[s]:
            cells[:] = encoded.allowed[ptr[s] : ptr[s + 1]]
        elif batch.lengths[s] and known[tokens[s]] >= 0:
            n = int(batch.lengths[s]) + 1
            cells[:] = 0
            cells.reshape(n, n)[known[tokens[s] : tokens[s + 1]], np.arange(1, n)] = 1
    return allowed


def _no_trees(encoded: EncodedArcs, single_root: bool) -> NDArray[np.bool_]:
    """bool[S]: whether the heads of a sentence are all known and are no projective tree."""
    heads, lengths = encoded.token_heads, encoded.lengths
    are_trees = np.empty(len(encoded), np.bool_)
    are_projective_trees(heads, lengths, single_root, are_trees)
    is_open = np.append(heads < 0, False)
    if len(encoded.doubt):
        is_open[:-1] |= np.delete(encoded.doubt, encoded.position_ptr[:-1]) > 0
    return ~are_trees & ~np.logical_or.reduceat(is_open, encoded.token_ptr[:-1])


def _contradiction(first: int, last: int = 0) -> ContradictionError:
    sentences = f"sentences {first + 1} to {last}" if last > first + 1 else f"sentence {first + 1}"
    return ContradictionError(f"training {sentences}: no projective tree agrees with the annotation")
