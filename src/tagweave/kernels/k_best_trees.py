"""The k best projective trees of a sentence, under evidence, exactly.

The recurrence of `kernels.tree` with the k best of every cell for the best (Huang and Chiang 2005, algorithm 1), every
cell the combination of two others:

    S[i, j] = k best over i <= k' < j of R[i, k'] + L[k'+1, j]
    r[i, j] = s[i, j] + k best of R[i, i] + b(i, i, j) + L[i+1, j], and r[i, k'] + b(i, k', j) + S[k', j]
    l[i, j] = s[j, i] + k best of R[i, j-1] + b(i, i, j) + L[j, j], and S[i, k'] + b(i, k', j) + l[k', j]
    R[i, j] = k best over i < m <= j of r[i, m] + R[m, j]           R[i, i] = (0)
    L[i, j] = k best over i <= m < j of L[i, m] + l[m, j]           L[j, j] = (0)

Lists fall, so a pair of ranks (a, b) is among the k best only if (a + 1)(b + 1) <= k. Every tree has only one
derivation, so different entries are different trees.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.decode import insert_ranked
from tagweave.kernels.siblings import block, row

_RIGHT, _LEFT, _SPLIT, _OUTWARD, _INWARD = range(5)


@kernel
def k_best(scores, pairs, single_root, heads, totals):
    """The k best trees of one sentence as heads int32[k, n] and totals float64[k].

    scores float[n + 1, n + 1], -inf where the evidence excludes an arc; pairs, in the order of `kernels.siblings`, or
    empty. The totals fall; beyond the last tree they are -inf, and the heads -1.
    """
    k, n = heads.shape
    heads[:] = -1
    totals[:] = -np.inf
    if n == 0:
        if k > 0:
            totals[0] = 0.0
        return
    step = min(1, pairs.shape[0])
    pairs = pairs if step else np.zeros(n + 1, scores.dtype)
    values = np.full((5, n + 2, n + 2, k), -np.inf)
    source = np.full((5, n + 2, n + 2, k), -1, np.int32)
    ranks = np.zeros((5, n + 2, n + 2, k), np.int32)  # of both parts: a k + b
    R, L, S = values[_RIGHT], values[_LEFT], values[_SPLIT]
    for i in range(n, 0 if single_root else -1, -1):
        R[i, i, 0] = 0.0
        L[i, i, 0] = 0.0
        for j in range(i + 1, n + 1):
            for at in range(i, j):
                _combine(R[i, at], L[at + 1, j], 0.0, at, S[i, j], source[_SPLIT, i, j], ranks[_SPLIT, i, j])
            _fill_arcs(scores, pairs, step, i, j, values, source, ranks)
            for m in range(i + 1, j + 1):
                r = values[_OUTWARD, i, m]
                _combine(r, R[m, j], 0.0, m, R[i, j], source[_RIGHT, i, j], ranks[_RIGHT, i, j])
            for m in range(i if i > 0 else j, j):
                l = values[_INWARD, m, j]  # noqa: E741 - the recurrence's name
                _combine(L[i, m], l, 0.0, m, L[i, j], source[_LEFT, i, j], ranks[_LEFT, i, j])
    if single_root:
        # S[0, m] is unused: it holds the part left of the root's child, which R[m, n] completes
        for m in range(1, n + 1):
            S[0, m] = L[1, m]
            score = np.float64(scores[0, m]) + pairs[m - 1]
            _combine(S[0, m], R[m, n], score, m, R[0, n], source[_RIGHT, 0, n], ranks[_RIGHT, 0, n])
    totals[:] = R[0, n]
    stack = np.empty((3 * n + 8, 4), np.int32)
    for rank in range(k):
        if totals[rank] > -np.inf:
            _trace(single_root, rank, source, ranks, stack, heads[rank])


@inner
def _fill_arcs(scores, pairs, step, i, j, values, source, ranks):
    """Fill the lists of r[i, j] and l[i, j]."""
    n = scores.shape[0] - 1
    R, L, S = values[_RIGHT], values[_LEFT], values[_SPLIT]
    r, l = values[_OUTWARD], values[_INWARD]  # noqa: E741
    to_left = step * block(n)
    for k in range(i, j):
        at = step * row(n, i, k) + j - k - 1
        score = np.float64(scores[i, j]) + pairs[at]
        one, other = (R[i, i], L[i + 1, j]) if k == i else (r[i, k], S[k, j])
        _combine(one, other, score, k, r[i, j], source[_OUTWARD, i, j], ranks[_OUTWARD, i, j])
        if i > 0:
            score = np.float64(scores[j, i]) + pairs[to_left + at]
            one, other = (R[i, j - 1], L[j, j]) if k == i else (S[i, k], l[k, j])
            _combine(one, other, score, k, l[i, j], source[_INWARD, i, j], ranks[_INWARD, i, j])


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
            if single_root and i == 0:
                heads[at - 1] = 0
                size = _put(stack, size, _LEFT, 1, at, a)
            else:
                size = _put(stack, size, _OUTWARD, i, at, a)
            size = _put(stack, size, _RIGHT, at, j, b)
        elif kind == _LEFT:
            size = _put(stack, size, _LEFT, i, at, a)
            size = _put(stack, size, _INWARD, at, j, b)
        elif kind == _OUTWARD:
            heads[j - 1] = i
            if at == i:
                size = _put(stack, size, _LEFT, i + 1, j, b)
            else:
                size = _put(stack, size, _OUTWARD, i, at, a)
                size = _put(stack, size, _SPLIT, at, j, b)
        else:
            heads[i - 1] = j
            if at == i:
                size = _put(stack, size, _RIGHT, i, j - 1, a)
            else:
                size = _put(stack, size, _SPLIT, i, at, a)
                size = _put(stack, size, _INWARD, at, j, b)


@inner
def _put(stack, size, kind, i, j, rank):
    """Put an entry of a cell on the stack, unless it is one word or a root that has no child. Returns the new size."""
    if i == j:
        return size
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = kind, i, j, rank
    return size + 1
