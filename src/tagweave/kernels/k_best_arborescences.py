"""The k best dependency trees of a sentence, projective or not, under evidence, exactly.

The second-best tree has another head than the best one for some word. For each word m, the best of the trees that have
the best one's heads before m, and another head of m, is a candidate. The best candidate is the next tree, and divides
its own part of all trees in the same way (Lawler 1972, A procedure for computing the k best solutions).
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.arborescence import best_arborescence


@kernel
def k_best(scores, single_root, heads, totals):
    """As `kernels.k_best_trees.k_best`, over all trees: k n runs of `best_arborescence`, each in O(n^2)."""
    k, n = heads.shape
    heads[:] = -1
    totals[:] = -np.inf
    if n == 0:
        if k > 0:
            totals[0] = 0.0
        return
    size, room = 1, 1 + k * n
    trees, values = np.empty((room, n), np.int32), np.full(room, -np.inf)
    fixed = np.zeros(room, np.int64)  # so many words, from the first, have their heads fixed
    banned = np.full((room, k), -1, np.int32)  # the heads that the next word may not have
    left = scores.astype(np.float64)
    values[0] = _best(left, single_root, trees[0])
    for rank in range(k):
        top = np.argmax(values[:size])
        if values[top] == -np.inf:
            return
        heads[rank], totals[rank] = trees[top], values[top]
        values[top] = -np.inf
        if rank == k - 1:
            return
        for m in range(fixed[top], n):
            left[:] = scores
            for word in range(m):
                _keep(left, trees[top, word], word)
            own = banned[size]
            if m == fixed[top]:
                own[:] = banned[top]
            for place in range(k):
                if own[place] < 0:
                    own[place] = trees[top, m]
                    break
            for place in range(k):
                if own[place] >= 0:
                    left[own[place], m + 1] = -np.inf
            fixed[size] = m
            values[size] = _best(left, single_root, trees[size])
            size += 1


@inner
def _keep(scores, head, word):
    """Exclude all other heads of a word."""
    for h in range(scores.shape[0]):
        if h != head:
            scores[h, word + 1] = -np.inf


@inner
def _best(scores, single_root, heads):
    """Set the heads of the best tree. Returns its score, -inf if there is none."""
    n = heads.shape[0]
    best_arborescence(scores.reshape(-1), np.zeros(1, np.int64), np.full(1, n, np.int64), single_root, heads)
    total = 0.0
    for m in range(n):
        total += scores[heads[m], m + 1] if heads[m] >= 0 else -np.inf
    return total
