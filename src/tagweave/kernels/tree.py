"""Max-product over projective dependency trees, under evidence: the best tree of each sentence.

The recurrence of McDonald and Pereira (2006, "Online learning of approximate dependency parsing algorithms") for
Eisner's (1996), over words 1 .. n and the root 0. s[h, m] is the score of the arc from head h to modifier m, -inf where
the evidence excludes it; b is that of a pair of siblings (`kernels.siblings`), 0 if pairs have no scores:

    S[i, j] = max_{i <= k < j} R[i, k] + L[k+1, j]         two siblings, and all between them
    r[i, j] = s[i, j] + max(b(i, i, j) + L[i+1, j],  max_{i < k < j} r[i, k] + b(i, k, j) + S[k, j])
    l[i, j] = s[j, i] + max(b(i, i, j) + R[i, j-1],  max_{i < k < j} S[i, k] + b(i, k, j) + l[k, j])
    R[i, j] = max_{i < m <= j} r[i, m] + R[m, j]           head i, and all of it up to j;  R[i, i] = 0
    L[i, j] = max_{i <= m < j} L[i, m] + l[m, j]           head j, and all of it down to i;  L[j, j] = 0
    best    = R[0, n],  or with one child of the root      max_m s[0, m] + b(0, 0, m) + L[1, m] + R[m, n]

Only the upper triangles of the charts are filled, in rows from the last word to the first. A finished cell (i, j) is
pushed at once to all cells (i, x), x > j, of which it is a part: these run along rows of the charts at the same time,
so the inner loop is one pass of vector code without a sum across its lanes. There are no back pointers: the tree is
recovered from the top by repeating the comparisons of the cells that it uses, which is O(n^2).

The scores of a batch are a flat array: those of the arcs of sentence s are scores[ptr[s] : ptr[s] + (n + 1)^2],
row-major [h, m]; column 0 and the diagonal are not read. Those of its pairs are scores[pair_ptr[s] : pair_ptr[s + 1]].
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.siblings import block, row, stride

_U = np.uintp
_ONE = np.uintp(1)
_RIGHT, _LEFT, _SPLIT, _OUTWARD, _INWARD = range(5)
CHARTS, ROWS = 5, 5


@kernel
def exclude(scores, allowed):
    """Set scores = -inf where allowed, uint8 or bool [at most as many], is 0; in place."""
    for a in range(_U(allowed.shape[0])):
        if not allowed[a]:
            scores[a] = -np.inf


@kernel
def best_heads(scores, ptr, pair_ptr, lengths, single_root, heads):
    """Set heads int32[sum of lengths] to the best projective trees, -1 for all words of a sentence that allows none.

    scores float32 or float64 (flat), ptr and pair_ptr int64[B + 1], lengths int64[B] (words without the root; 0 is
    allowed). single_root: whether the root has exactly one child. Ties are broken deterministically.
    """
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    space = np.empty(CHARTS * (longest + 2) ** 2, scores.dtype)
    rows = np.empty((ROWS, longest + 2), scores.dtype)
    neutral = np.zeros(longest + 1, scores.dtype)
    stack = np.empty((3 * longest + 8, 3), np.int32)
    token = 0
    for s in range(lengths.shape[0]):
        n = lengths[s]
        if n > 0:
            arcs = scores[ptr[s] : ptr[s] + (n + 1) * (n + 1)].reshape((n + 1, n + 1))
            charts = space[: CHARTS * (n + 2) * (n + 2)].reshape((CHARTS, n + 2, n + 2))
            step = stride(pair_ptr, s)
            pairs = scores[pair_ptr[s] : pair_ptr[s + 1]] if step else neutral
            fill(arcs, pairs, step, single_root, charts, rows)
            _trace(arcs, pairs, step, single_root, charts, stack, heads[token : token + n])
        token += n


@kernel
def fill(scores, pairs, step, single_root, charts, rows):
    """Fill R, L, r, l, S = charts for one sentence; rows are the unfinished cells (i, x) of S, L, R, r and l."""
    R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741 - the recurrence's name
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    n = scores.shape[0] - 1
    N, to_left = _U(n + 1), step * block(n)
    lowest = scores.dtype.type(-np.inf)
    for at in range(n, 0 if single_root else -1, -1):
        i = _U(at)
        R[i, i] = 0
        L[i, i] = 0
        alone = step * row(n, at, at)
        for x in range(i + _ONE, N):
            split[x] = L[i + _ONE, x]
            left[x] = lowest
            right[x] = lowest
            outward[x] = L[i + _ONE, x] + pairs[alone + x - i - _ONE]
            inward[x] = lowest
        if at < n:
            inward[i + _ONE] = pairs[to_left + alone]
        for j in range(i + _ONE, N):
            S[i, j] = split[j]
            r[i, j] = outward[j] + scores[i, j]
            l[i, j] = inward[j] + scores[j, i] if at > 0 else lowest
            R[i, j] = max(right[j], r[i, j])
            L[i, j] = max(left[j], l[i, j])
            first = j + _ONE
            if first < N:
                inward[first] = max(inward[first], R[i, j] + pairs[to_left + alone + j - i])
                own = step * row(n, at, j)
                cells, others = (R[i, j], L[i, j], r[i, j], S[i, j]), (L[first], l[j], R[j], S[j])
                _push(cells, others, pairs[own:], pairs[to_left + own :], first, N, rows)


@inner
def _push(cells, others, to_right, to_left, first, N, rows):
    """Push the finished cells (i, j) to the cells (i, x), x >= first, of which they may be parts."""
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    rightmost, leftmost, arc, siblings = cells
    L, l, R, S = others  # noqa: E741
    for x in range(first, N):
        a = rightmost + L[x]
        split[x] = a if a > split[x] else split[x]
        b = leftmost + l[x]
        left[x] = b if b > left[x] else left[x]
        c = arc + R[x]
        right[x] = c if c > right[x] else right[x]
        d = arc + S[x] + to_right[x - first]
        outward[x] = d if d > outward[x] else outward[x]
        e = siblings + l[x] + to_left[x - first]
        inward[x] = e if e > inward[x] else inward[x]


@kernel
def best_total(scores, pairs, step, single_root, n, charts):
    """The score of the best tree from full charts; -inf where none is allowed."""
    L, R = charts[1], charts[0]
    if not single_root:
        return R[0, n]
    best = scores.dtype.type(-np.inf)
    for m in range(1, n + 1):
        best = max(best, scores[0, m] + pairs[step * row(n, 0, 0) + m - 1] + L[1, m] + R[m, n])
    return best


@inner
def _trace(scores, pairs, step, single_root, charts, stack, heads):
    """The heads of the best tree from full charts."""
    R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741
    n = heads.shape[0]
    to_left = pairs[step * block(n) :]
    heads[:] = -1
    size = 0
    best = best_total(scores, pairs, step, single_root, n, charts)
    if best == -np.inf:
        return
    if single_root:
        child = 1
        while child < n and not scores[0, child] + pairs[child - 1] + L[1, child] + R[child, n] >= best:
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
            at = _best_part(R[i], L[:, j], i, j, 1)
            size = _put(stack, size, _RIGHT, i, at)
            size = _put(stack, size, _LEFT, at + 1, j)
        elif kind == _RIGHT:
            m = _best_part(r[i], R[:, j], i + 1, j + 1, 0)
            size = _put(stack, size, _OUTWARD, i, m)
            size = _put(stack, size, _RIGHT, m, j)
        elif kind == _LEFT:
            m = _best_part(L[i], l[:, j], i, j, 0)
            size = _put(stack, size, _LEFT, i, m)
            size = _put(stack, size, _INWARD, m, j)
        elif kind == _OUTWARD:
            heads[j - 1] = i
            k = _best_sibling(L[i + 1, j], r[i], S[:, j], pairs, step, n, i, j)
            size = _put(stack, size, _LEFT, i + 1, j) if k == i else _put(stack, size, _OUTWARD, i, k)
            size = _put(stack, size, _SPLIT, k, j) if k > i else size
        else:
            heads[i - 1] = j
            k = _best_sibling(R[i, j - 1], S[i], l[:, j], to_left, step, n, i, j)
            size = _put(stack, size, _RIGHT, i, j - 1) if k == i else _put(stack, size, _SPLIT, i, k)
            size = _put(stack, size, _INWARD, k, j) if k > i else size


@inner
def _best_part(row, column, low, high, offset):
    """The first k of low .. high - 1 with the largest row[k] + column[k + offset]."""
    at, best = low, row[low] + column[low + offset]
    for k in range(low + 1, high):
        value = row[k] + column[k + offset]
        if value > best:
            at, best = k, value
    return at


@inner
def _best_sibling(alone, cells, others, pairs, step, n, i, j):
    """The sibling k of the best derivation of an arc between i and j; i if there is none."""
    at, best = i, alone + pairs[step * row(n, i, i) + j - i - 1]
    for k in range(i + 1, j):
        value = cells[k] + others[k] + pairs[step * row(n, i, k) + j - k - 1]
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
