"""Max-product over projective dependency trees, under evidence: the best tree of each sentence.

The recurrence of Eisner (1996, "Three new probabilistic models for dependency parsing"), over words 1 .. n and the root
0; s[h, m] is the score of the arc from head h to modifier m, -inf where the evidence excludes it:

    S[i, j] = max_{i <= k < j} R[i, k] + L[k+1, j]         two halves that meet, yet without an arc
    r[i, j] = S[i, j] + s[i, j]                            l[i, j] = S[i, j] + s[j, i]
    R[i, j] = max_{i < m <= j} r[i, m] + R[m, j]           head i, and all of it up to j;  R[i, i] = 0
    L[i, j] = max_{i <= m < j} L[i, m] + l[m, j]           head j, and all of it down to i;  L[j, j] = 0
    best    = R[0, n],  or with one child of the root      max_m s[0, m] + L[1, m] + R[m, n]

Only the upper triangles of the charts are filled, in rows from the last word to the first. A finished cell (i, j) is
pushed at once to all cells (i, x), x > j, of which it is a part: these run along rows of S, R and L at the same time,
so the inner loop is one pass of vector code without a sum across its lanes. There are no back pointers: the tree is
recovered from the top by repeating the comparisons of the cells that it uses, which is O(n^2).

The scores of a batch are a flat array, sentence by sentence: those of sentence s are
scores[ptr[s] : ptr[s] + (n + 1)^2], row-major [h, m]. Column 0 and the diagonal are not read.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel

_U = np.uintp
_ONE = np.uintp(1)
_RIGHT, _LEFT, _SPLIT = range(3)


@kernel
def exclude(scores, allowed):
    """Set scores = -inf where allowed, uint8 or bool of the same flat shape, is 0; in place."""
    for a in range(_U(scores.shape[0])):
        if not allowed[a]:
            scores[a] = -np.inf


@kernel
def best_heads(scores, ptr, lengths, single_root, heads):
    """Set heads int32[sum of lengths] to the best projective trees, -1 for all words of a sentence that allows none.

    scores float32 or float64 (flat), ptr int64[B] or [B + 1], lengths int64[B] (words without the root; 0 is allowed).
    single_root: whether the root has exactly one child. Ties are broken deterministically.
    """
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    space = np.empty(4 * (longest + 2) ** 2, scores.dtype)
    rows = np.empty((3, longest + 2), scores.dtype)
    stack = np.empty((2 * longest + 4, 3), np.int32)
    token = 0
    for s in range(lengths.shape[0]):
        n = lengths[s]
        if n > 0:
            arcs = scores[ptr[s] : ptr[s] + (n + 1) * (n + 1)].reshape((n + 1, n + 1))
            charts = space[: 4 * (n + 2) * (n + 2)].reshape((4, n + 2, n + 2))
            fill(arcs, single_root, charts, rows)
            _trace(arcs, single_root, charts, stack, heads[token : token + n])
        token += n


@kernel
def fill(scores, single_root, charts, rows):
    """Fill R, L, r, l = charts for one sentence; rows are the unfinished cells (i, x) of S, L and R."""
    R, L, r, l = charts[0], charts[1], charts[2], charts[3]  # noqa: E741 - the recurrence's name
    split, left, right = rows[0], rows[1], rows[2]
    N = _U(scores.shape[0])
    lowest = scores.dtype.type(-np.inf)
    for row in range(scores.shape[0] - 1, 0 if single_root else -1, -1):
        i = _U(row)
        R[i, i] = 0
        L[i, i] = 0
        for x in range(i + _ONE, N):
            split[x] = L[i + _ONE, x]
            left[x] = lowest
            right[x] = lowest
        for j in range(i + _ONE, N):
            outward = split[j] + scores[i, j]
            inward = split[j] + scores[j, i] if row > 0 else lowest
            rightmost = max(right[j], outward)
            leftmost = max(left[j], inward)
            R[i, j] = rightmost
            L[i, j] = leftmost
            r[i, j] = outward
            l[i, j] = inward
            _push(rightmost, leftmost, outward, L[j + _ONE], l[j], R[j], j + _ONE, N, split, left, right)


@inner
def _push(rightmost, leftmost, outward, L, l, R, first, N, split, left, right):  # noqa: E741
    """Push the finished cell (i, j) to the cells (i, x), x >= first, of which it may be a part."""
    for x in range(first, N):
        a = rightmost + L[x]
        split[x] = a if a > split[x] else split[x]
        b = leftmost + l[x]
        left[x] = b if b > left[x] else left[x]
        c = outward + R[x]
        right[x] = c if c > right[x] else right[x]


@kernel
def best_total(scores, single_root, n, charts):
    """The score of the best tree from full charts; -inf where none is allowed."""
    L, R = charts[1], charts[0]
    if not single_root:
        return R[0, n]
    best = scores.dtype.type(-np.inf)
    for m in range(1, n + 1):
        best = max(best, scores[0, m] + L[1, m] + R[m, n])
    return best


@inner
def _trace(scores, single_root, charts, stack, heads):
    """The heads of the best tree from full charts."""
    R, L, r, l = charts[0], charts[1], charts[2], charts[3]  # noqa: E741
    n = heads.shape[0]
    heads[:] = -1
    size = 0
    best = best_total(scores, single_root, n, charts)
    if best == -np.inf:
        return
    if single_root:
        child = 1
        while child < n and not scores[0, child] + L[1, child] + R[child, n] >= best:
            child += 1
        heads[child - 1] = 0
        size = _put(stack, size, _LEFT, 1, child)
        size = _put(stack, size, _RIGHT, child, n)
    else:
        size = _put(stack, size, _RIGHT, 0, n)
    while size > 0:
        size -= 1
        kind, i, j = stack[size, 0], stack[size, 1], stack[size, 2]
        if kind == _SPLIT:
            at = _best_part(R[i], L[:, j], i, j, 0, 1)
            size = _put(stack, size, _RIGHT, i, at)
            size = _put(stack, size, _LEFT, at + 1, j)
        elif kind == _RIGHT:
            m = _best_part(r[i], R[:, j], i + 1, j + 1, 0, 0)
            heads[m - 1] = i
            size = _put(stack, size, _SPLIT, i, m)
            size = _put(stack, size, _RIGHT, m, j)
        else:
            m = _best_part(L[i], l[:, j], i, j, 0, 0)
            heads[m - 1] = j
            size = _put(stack, size, _LEFT, i, m)
            size = _put(stack, size, _SPLIT, m, j)


@inner
def _best_part(row, column, low, high, shift, offset):
    """The first k of low .. high - 1 with the largest row[k + shift] + column[k + offset]."""
    at, best = low, row[low + shift] + column[low + offset]
    for k in range(low + 1, high):
        value = row[k + shift] + column[k + offset]
        if value > best:
            at, best = k, value
    return at


@inner
def _put(stack, size, kind, i, j):
    """Put a cell on the stack, unless it is one word or a root that has no child. Returns the new size."""
    if i == j:
        return size
    stack[size, 0], stack[size, 1], stack[size, 2] = kind, i, j
    return size + 1
