"""The sentences of an iteration and their order (li-2015, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]

_WINDOW = 32  # batches within which sentences are sorted by length


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
    """Rearrange sentences so that those of a batch have about the same length; batches stay in random order.

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
