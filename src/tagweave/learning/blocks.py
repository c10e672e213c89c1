"""An objective over blocks of sentences, one of which is in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.learning.pairwise_sum import PairwiseSum, Part
from tagweave.learning.trainer import Blocks, Objective

Floats = NDArray[Any]
Order = NDArray[np.int64]


class BlockObjective:
    """The loss of the sentences of consecutive blocks.

    Batches of sentences are the same as those of one objective over all of them, but the order of an iteration stays
    within a block until it is done; the order of the blocks is random as well.

    Args:
        open_block: makes the objective of a block; the last one is kept.
        lengths: how many sentences with evidence each block has.
        size, dtype, threads: as `Objective`.
    """

    def __init__(
        self,
        open_block: Callable[[int], Objective],
        lengths: Sequence[int],
        size: int,
        dtype: type[np.floating[Any]],
        threads: int = 1,
    ) -> None:
        self.size, self.dtype, self.threads = size, dtype, threads
        self._open, self._lengths = open_block, tuple(lengths)
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._opened: tuple[int, Objective] | None = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    def loss_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """As `Objective`."""
        loss, gradient = 0.0, np.zeros(self.size, self.dtype)
        for part in self._parts(weights):
            loss += part.loss
            gradient += part.gradient
        return loss, gradient

    def parts(self, weights: Floats, first: int) -> list[Part]:
        """The loss and gradient of all blocks, which are the leaves of a tree from the leaf `first` on."""
        total = PairwiseSum()
        for part in self._parts(weights):
            total.add(part._replace(first=first + part.first))
        return total.parts

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        """As `Objective`."""
        return sum(
            (self._block(b).add_batch(weights, low, high, gradient) for b, low, high in self._runs(first, last)), 0.0
        )

    def correct(self, weights: Floats, totals: Floats, first: int, last: int, batch: int, step: int) -> int:
        """As `Objective`. A batch of two blocks becomes two, under one number."""
        mistakes = done = 0
        for b, low, high in self._runs(first, last):
            mistakes += self._block(b).correct(weights, totals, low, high, batch, step + done // batch)
            done += high - low
        return mistakes

    def mistake(self, weights: Floats, sentence: int, gradient: Floats) -> tuple[int, float]:
        """As `Objective`."""
        ((block, own, _),) = self._runs(sentence, sentence + 1)
        return self._block(block).mistake(weights, own, gradient)

    def touched(self, first: int, last: int) -> Blocks:
        """As `Objective`."""
        parts = [self._block(b).touched(low, high) for b, low, high in self._runs(first, last)]
        return (
            parts[0]
            if len(parts) == 1
            else (np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))
        )

    def order(self, seed: int, iteration: int, batch: int) -> Order:
        """As `Objective`; with one block, its own order."""
        blocks = range(len(self._lengths))
        if len(blocks) > 1:
            blocks = np.random.default_rng([seed, iteration]).permutation(len(blocks)).tolist()
        parts = [self._starts[b] + self._block(b).order(seed, iteration, batch) for b in blocks if self._lengths[b]]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def shuffled(self, order: Order) -> BlockObjective:
        """As `Objective`."""
        of = np.searchsorted(self._starts, order, side="right") - 1
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(of)) + 1, [len(order)]]).tolist()
        runs = [(int(of[low]), order[low:high]) for low, high in pairwise(bounds) if low < high]

        def open_run(run: int) -> Objective:
            block, members = runs[run]
            return self._block(block).shuffled(members - self._starts[block])

        return BlockObjective(open_run, [len(members) for _, members in runs], self.size, self.dtype, self.threads)

    def _parts(self, weights: Floats) -> Iterator[Part]:
        for b, length in enumerate(self._lengths):
            if length:
                loss, gradient = self._block(b).loss_and_gradient(weights)
            else:
                loss, gradient = 0.0, np.zeros(self.size, self.dtype)
            yield Part(b, 1, loss, gradient)

    def _block(self, number: int) -> Objective:
        if self._opened is None or self._opened[0] != number:
            self._opened = None  # its memory first
            self._opened = number, self._open(number)
        return self._opened[1]

    def _runs(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """block, first, last of the sentences of every block among sentences first .. last - 1."""
        block = int(np.searchsorted(self._starts, first, side="right")) - 1
        while first < last:
            start, end = int(self._starts[block]), int(self._starts[block + 1])
            if (high := min(last, end)) > first:
                yield block, first - start, high - start
                first = high
            block += 1
