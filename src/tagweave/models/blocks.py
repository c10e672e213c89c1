"""An objective over blocks of sentences, with one block in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tagweave.kernels.mistakes import StepRule
from tagweave.models.scorer import Blocks, Floats


class BlockObjective:
    """The loss of the sentences of consecutive blocks.

    Batches of sentences are the same as with one objective over all of them, but the order of an iteration stays
    within a block until it is done; the order of the blocks is random as well.
    """

    def __init__(
        self,
        open_block: Callable[[int], Any],
        lengths: Sequence[int],
        size: int,
        dtype: type[np.floating[Any]],
        threads: int = 1,
    ) -> None:
        self.size, self.dtype, self.threads = size, dtype, threads
        self._open, self._lengths = open_block, tuple(lengths)
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._opened: tuple[int, Any] | None = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    def add_batch(self, weights: Floats, first: int, last: int, gradient: Floats) -> float:
        return sum(
            (self._block(b).add_batch(weights, low, high, gradient) for b, low, high in self._runs(first, last)), 0.0
        )

    def correct(
        self, weights: Floats, memory: Floats, first: int, last: int, batch: int, step: int, rule: StepRule
    ) -> float:
        """As `Objective`. A batch of two blocks becomes two, under one number."""
        cost, done = 0.0, 0
        for b, low, high in self._runs(first, last):
            cost += self._block(b).correct(weights, memory, low, high, batch, step + done // batch, rule)
            done += high - low
        return cost

    def touched(self, first: int, last: int) -> Blocks:
        parts: list[Blocks] = [self._block(b).touched(low, high) for b, low, high in self._runs(first, last)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([starts for starts, _ in parts]), np.concatenate([stops for _, stops in parts])

    def _block(self, number: int) -> Any:
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
