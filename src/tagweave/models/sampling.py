"""Which sentences an iteration visits, and in what order (li-2015, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]

_WINDOW = 32  # batches among which sentences of like length are brought together


def drawn(members: Sequence[Order], sizes: Sequence[int], seed: int, iteration: int) -> Order:
    """The sentences of an iteration in random order: sizes[c] of the sentences members[c] of every corpus c.

    A corpus is used up before any of its sentences comes again, where li-2015 draws anew for every iteration: so none
    is left out by chance. The result is a function of seed and iteration alone, so that resumed training repeats it.
    """
    parts = [_next(own, size, seed, c, iteration) for c, (own, size) in enumerate(zip(members, sizes, strict=True))]
    return np.random.default_rng([seed, iteration]).permutation(np.concatenate(parts))


def _next(members: Order, size: int, seed: int, corpus: int, iteration: int) -> Order:
    """Places iteration * size and on of the members, shuffled, followed by the members, shuffled again, and so on."""
    if len(members) in (0, size):
        return members
    first, last = iteration * size // len(members), ((iteration + 1) * size - 1) // len(members)
    rounds = [np.random.default_rng([seed, corpus, r]).permutation(members) for r in range(first, last + 1)]
    start = iteration * size - first * len(members)
    return np.concatenate([members[:0], *rounds])[start : start + size]


def of_like_length(order: Order, lengths: NDArray[np.int64], batch: int, seed: int, iteration: int) -> Order:
    """The same sentences, rearranged so that those of a batch have about the same length.

    Sentences advance in lockstep, and a step is a product of a matrix with as many rows as sentences are that long:
    where one of them is far longer than the others, most of its steps have one row. The batches stay in random order.
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
