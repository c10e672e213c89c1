"""The loss of a tree model's weights on encoded sentences (`structures.loss`), for trainers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.evidence.sequences import pointers
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.kernels import mistakes
from tagweave.models.arc_scorer import ArcBatch, ArcParameters, ArcScoring
from tagweave.models.batches import batch_bounds, drawn
from tagweave.models.scorer import Blocks, Floats
from tagweave.structures.loss import contradiction, loss
from tagweave.structures.tree import Tree, add_trees, allowed_cells, arc_cells, are_whole, exclude, tree_structure

_NEGLIGIBLE = 1e-4  # probability below which an arc moves no float32 weight


class TreeObjective:
    """The loss of a tree model as a function of its weights.

    Sentences whose evidence excludes nothing are left out: their loss and gradient are exactly 0. The same number of
    threads gives bit-identical sums. With float32, the gradient leaves out arcs whose two probabilities, free and under
    the evidence, differ by less than 1e-4.
    """

    def __init__(
        self,
        parameters: ArcParameters,
        encoded: EncodedArcs,
        single_root: bool = True,
        threads: int = 1,
        dtype: type[np.floating[Any]] = np.float32,
        projective: bool = True,
    ) -> None:
        informative = encoded.evidence.informative()
        self.parameters, self.single_root, self.threads, self.dtype = parameters, single_root, threads, dtype
        self._structure = tree_structure(single_root, projective)
        self.encoded = encoded if informative.all() else encoded.take(np.flatnonzero(informative))
        if (no_trees := _no_trees(self.encoded, self._structure)).any():
            raise contradiction(self.encoded.evidence.ids[no_trees.argmax()], self._structure.contradiction)
        self._threshold = _NEGLIGIBLE if dtype == np.float32 else 0.0
        self._touched = parameters.touched()
        self._written: tuple[int, int, Floats, Blocks | None] | None = None
        self._has_begun = False

    @property
    def size(self) -> int:
        return self.parameters.size

    def __len__(self) -> int:
        return len(self.encoded)

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        bounds = list(batch_bounds(self.encoded))
        share = max(1, -(-len(bounds) // self.threads))
        scoring = self.parameters.scoring(weights)

        def run(thread: int) -> tuple[float, Floats]:
            gradient = np.zeros(self.size, self.dtype)
            loss = 0.0
            for first, last in bounds[thread * share : (thread + 1) * share]:
                loss += self._add_loss(scoring, self.parameters.batch(self.encoded, first, last), gradient)[0]
            return loss, gradient

        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(run, range(self.threads)))
        for _, thread_gradient in parts[1:]:
            parts[0][1][:] += thread_gradient
        return sum(loss for loss, _ in parts), parts[0][1]

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """The loss of sentences first .. last - 1; adds its gradient to `gradient`."""
        batch = self.parameters.batch(self.encoded, first, last)
        loss, moved = self._add_loss(self.parameters.scoring(weights), batch, gradient)
        self._written = first, last, gradient, moved
        return loss

    def add_mistakes(
        self, weights: Floats, first: int, last: int, gradient: Floats, counts: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Add features(best) - features(best allowed) of mistaken sentences, times `counts`.

        Return int64[S], the numbers of wrong heads.
        """
        batch, scoring = self.parameters.batch(self.encoded, first, last), self.parameters.scoring(weights)
        scores = scoring.scores(batch)
        best = self._structure.best(scores, batch)
        target = batch.evidence.token_heads
        is_wrong = best != target if (target >= 0).all() else allowed_cells(batch)[arc_cells(batch, best)] == 0
        errors = np.add.reduceat(is_wrong.astype(np.int64), pointers(batch.lengths)[:-1])
        errors *= self.encoded.evidence.weights[first:last] > 0
        wrong = errors > 0
        if not wrong.any():
            return errors
        if (target < 0).any():
            exclude(scores, batch)
            target = self._structure.best(scores, batch)
        if (impossible := np.repeat(wrong, batch.lengths) & (target < 0)).any():
            sentence = int(np.searchsorted(batch.evidence.token_ptr, impossible.argmax(), "right")) - 1
            raise contradiction(batch.evidence.ids[sentence], self._structure.contradiction)
        times = np.repeat(wrong * counts, batch.lengths)
        d_scores = np.zeros(batch.size, self.dtype)
        add_trees(d_scores, batch, best, times)
        add_trees(d_scores, batch, target, -times)
        self._written = first, last, gradient, scoring.add_gradient(batch, d_scores, gradient, self._threshold)
        return errors

    def correct(
        self, weights: Floats, memory: Floats, first: int, last: int, batch: int, step: int, rule: mistakes.StepRule
    ) -> float:
        """Take steps of `batch` sentences each, in place, and return the sum of their costs (`kernels.mistakes`)."""
        d, cost = np.zeros(self.size, self.dtype), 0.0
        for number, start in enumerate(range(first, last, batch), step):
            stop = min(start + batch, last)
            counts = self.encoded.evidence.weights[start:stop]
            errors = self.add_mistakes(weights, start, stop, d, counts)
            if wrong := int(np.count_nonzero(errors)):
                blocks = self.touched(start, stop)
                most = int((blocks[1] - blocks[0]).sum())
                moves = mistakes.Moves(np.empty(most, np.int64), np.empty(most))
                count = mistakes.take(d, *blocks, moves)
                vectors = mistakes.Vectors(weights, memory, d)
                cost += wrong * mistakes.move(rule, vectors, moves, count, int(errors.sum()), float(counts[0]), number)
        return cost

    def touched(self, first: int, last: int) -> Blocks:
        """Return the weights that sentences first .. last - 1 can touch, as blocks of the vector.

        Right after these sentences were added to a gradient, and until that is used up, only the weights that they did
        touch: far fewer than the features of all arcs.
        """
        if self._written is not None:
            *bounds, gradient, moved = self._written
            if bounds == [first, last] and moved is not None and _is_moved(gradient, moved):
                return moved
        return self._touched(self.parameters.batch(self.encoded, first, last))

    def order(self, seed: int, iteration: int, batch: int) -> NDArray[np.int64]:
        """All sentences, in a random order that is a function of the arguments."""
        return drawn([np.arange(len(self), dtype=np.int64)], [len(self)], seed, iteration)

    def shuffled(self, order: NDArray[np.int64]) -> TreeObjective:
        parts = self.parameters, self.encoded.take(order), self.single_root, self.threads, self.dtype
        other = TreeObjective(*parts, self._structure.projective)
        other._touched, other._has_begun = self._touched, self._has_begun
        self._has_begun = True
        return other

    def _add_loss(self, scoring: ArcScoring, batch: ArcBatch, gradient: Floats) -> tuple[float, Blocks | None]:
        """Add the gradient of a batch; return its loss, and what `ArcScoring.add_gradient` returns."""
        scores = scoring.scores(batch)
        if not self._has_begun:  # of nothing: it is compiled while another process compiles the sums
            scoring.add_gradient(batch, np.zeros_like(scores), gradient, self._threshold)
            self._has_begun = True
        losses, d_scores = loss(self._structure, scores, batch)
        return float(losses.sum()), scoring.add_gradient(batch, d_scores, gradient, self._threshold)


def _is_moved(gradient: Floats, blocks: Blocks) -> bool:
    start, stop = blocks
    return bool(len(start) and gradient[start[0] : stop[0]].any())


def _no_trees(encoded: EncodedArcs, structure: Tree) -> NDArray[np.bool_]:
    """bool[S]: whether the heads of a sentence are all known but no tree of the structure."""
    noise, is_open = encoded.evidence.noise, np.append(encoded.evidence.token_heads < 0, False)
    if len(noise):
        is_open[:-1] |= np.delete(noise, encoded.position_ptr[:-1]) > 0
    return ~are_whole(encoded.evidence, structure) & ~np.logical_or.reduceat(is_open, encoded.token_ptr[:-1])
