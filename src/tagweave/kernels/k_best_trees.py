"""The k best projective trees of a sentence, under evidence, exactly.

The recurrence of `kernels.tree` with the k best of every cell for the best (Huang and Chiang 2005, algorithm 1):

    S[i, j] = k best over i <= k' < j of R[i, k'] + L[k'+1, j]
    R[i, j] = k best over i < m <= j of S[i, m] + s[i, m] + R[m, j]        R[i, i] = (0)
    L[i, j] = k best over i <= m < j of L[i, m] + S[m, j] + s[j, m]        L[j, j] = (0)

Lists fall, so a pair of ranks (a, b) is among the k best only if (a + 1)(b + 1) <= k. Every tree has only one
derivation, so different entries are different trees.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.decode import insert_ranked

_RIGHT, _LEFT, _SPLIT = range(3)


@kernel
def k_best(scores, single_root, heads, totals):
    """The k best trees of one sentence as heads int32[k, n] and totals float64[k].

    scores float[n + 1, n + 1], -inf where the evidence excludes an arc. The totals fall; beyond the last tree they are
    -inf, and the heads -1.
    """
    k, n = heads.shape
    heads[:] = -1
    totals[:] = -np.inf
    if n == 0:
        if k > 0:
            totals[0] = 0.0
        return
    values = np.full((3, n + 2, n + 2, k), -np.inf)
    source = np.full((3, n + 2, n + 2, k), -1, np.int32)
    ranks = np.zeros((3, n + 2, n + 2, k), np.int32)  # of both parts: a k + b
    R, L, S = values[_RIGHT], values[_LEFT], values[_SPLIT]
    for i in range(n, 0 if single_root else -1, -1):
        R[i, i, 0] = 0.0
        L[i, i, 0] = 0.0
        for j in range(i + 1, n + 1):
            for at in range(i, j):
                _combine(R[i, at], L[at + 1, j], 0.0, at, S[i, j], source[_SPLIT, i, j], ranks[_SPLIT, i, j])
            for m in range(i + 1, j + 1):
                _combine(S[i, m], R[m, j], scores[i, m], m, R[i, j], source[_RIGHT, i, j], ranks[_RIGHT, i, j])
            for m in range(i if i > 0 else j, j):
                _combine(L[i, m], S[m, j], scores[j, m], m, L[i, j], source[_LEFT, i, j], ranks[_LEFT, i, j])
    if single_root:
        # S[0, m] is unused: it holds the part left of the root's child, which R[m, n] completes
        for m in range(1, n + 1):
            S[0, m] = L[1, m]
            _combine(S[0, m], R[m, n], scores[0, m], m, R[0, n], source[_RIGHT, 0, n], ranks[_RIGHT, 0, n])
    totals[:] = R[0, n]
    stack = np.empty((2 * n + 4, 4), np.int32)
    for rank in range(k):
        if totals[rank] > -np.inf:
            _trace(single_root, rank, source, ranks, stack, heads[rank])


@inner
def _combine(left, right, score, at, values, source, ranks):
    """Enter left[a] + right[b] + score, for all a, b, into the list of a cell."""
    k = values.shape[0]
    if score == -np.inf:
        return
    for a in range(k):
        for b in range(k // (a + 1)):
            value = left[a] + right[b] + score
            if not value > values[k - 1]:
                if b == 0:  # no later a fits either
                    return
                break
            insert_ranked(values, source, ranks, k, value, at, a * k + b)


@inner
def _trace(single_root, rank, source, ranks, stack, heads):
    """The heads of the tree of one rank."""
    n, k = heads.shape[0], source.shape[3]
    size = _put(stack, 0, _RIGHT, 0, n, rank)
    while size > 0:
        size -= 1
        kind, i, j, r = stack[size]
        at, a, b = source[kind, i, j, r], ranks[kind, i, j, r] // k, ranks[kind, i, j, r] % k
        if kind == _SPLIT:
            size = _put(stack, size, _RIGHT, i, at, a)
            size = _put(stack, size, _LEFT, at + 1, j, b)
        elif kind == _RIGHT:
            heads[at - 1] = i
            is_whole = single_root and i == 0
            size = _put(stack, size, _LEFT if is_whole else _SPLIT, 1 if is_whole else i, at, a)
            size = _put(stack, size, _RIGHT, at, j, b)
        else:
            heads[at - 1] = j
            size = _put(stack, size, _LEFT, i, at, a)
            size = _put(stack, size, _SPLIT, at, j, b)


@inner
def _put(stack, size, kind, i, j, rank):
    """Put an entry of a cell on the stack, unless it is one word or a root that has no child. Returns the new size."""
    if i == j:
        return size
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = kind, i, j, rank
    return size + 1
