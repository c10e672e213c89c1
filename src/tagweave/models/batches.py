"""The sentences of an iteration and their order (li-2015, Algorithm 1), and batches of a full pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
    parts = [_next(own, size, seed, c, iteration) for c, (own, size) in enumerate(zip(members, sizes, strict=True))]
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
        whole = len(window) // batch
        parts += [window[b * batch : (b + 1) * batch] for b in rng.permutation(whole)]
        parts.append(window[whole * batch :])
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
