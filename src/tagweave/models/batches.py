"""The sentences of an iteration and their order (li-2015, Algorithm 1), and batches of a full pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels.mistakes import StepRule
from tagweave.models.scorer import Blocks, Floats

if TYPE_CHECKING:
    from tagweave.features.encoded import Encoded
    from tagweave.features.encoded_arcs import EncodedArcs


Order = NDArray[np.int64]

_WINDOW = 32  # batches within which sentences are sorted by length
_CHUNK_CELLS = 1 << 17  # tokens x labels in a batch of a full pass: its buffers fit the second-level cache
_CHUNK_SENTENCES = 64  # fewest sentences of such a batch, so that its steps are worthwhile matrix products
_ARCS = 1 << 16  # arcs whose scores are held at a time


def drawn(members: Sequence[Order], sizes: Sequence[int], seed: int, iteration: int) -> Order:
    """Return the sentences of an iteration in random order: sizes[c] of the sentences members[c] of every corpus c.

    All sentences of a corpus are used before any is repeated (li-2015 draws anew for every iteration). The result
    depends on seed and iteration alone, so that resumed training repeats it.
    """
    parts = [
        _next(sentences, size, seed, c, iteration)
        for c, (sentences, size) in enumerate(zip(members, sizes, strict=True))
    ]
    return np.random.default_rng([seed, iteration]).permutation(np.concatenate(parts))


def _next(members: Order, size: int, seed: int, corpus: int, iteration: int) -> Order:
    """`size` members from index iteration * size on, in an endless series of shuffled copies of the members."""
    if len(members) in (0, size):
        return members
    first, last = iteration * size // len(members), ((iteration + 1) * size - 1) // len(members)
    rounds = [np.random.default_rng([seed, corpus, r]).permutation(members) for r in range(first, last + 1)]
    start = iteration * size - first * len(members)
    return np.concatenate([members[:0], *rounds])[start : start + size]


def of_like_length(order: Order, lengths: NDArray[np.int64], batch: int, seed: int, iteration: int) -> Order:
    """Rearrange sentences so that a batch has sentences of about the same length; batches stay in random order.

    A step of a batch is a matrix product with one row per sentence that is long enough.
    """
    rng = np.random.default_rng([seed, iteration])
    parts: list[Order] = []
    for low in range(0, len(order), _WINDOW * batch):
        window = order[low : low + _WINDOW * batch]
        window = window[np.argsort(-lengths[window], kind="stable")]
        full_batches = len(window) // batch
        parts += [window[b * batch : (b + 1) * batch] for b in rng.permutation(full_batches)]
        parts.append(window[full_batches * batch :])
    return np.concatenate([order[:0], *parts])


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


def batch_bounds(encoded: EncodedArcs) -> Iterator[tuple[int, int]]:
    """Yield first, last of batches of sentences with about `_ARCS` arcs."""
    cells, first = encoded.evidence.cells, 0
    while first < len(encoded):
        last = max(first + 1, int(np.searchsorted(cells, cells[first] + _ARCS, side="right")) - 1)
        yield first, last
        first = last


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
