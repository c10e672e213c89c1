"""Max-product over projective dependency trees, under evidence: the best tree of each sentence, and the k best.

The recurrence of McDonald and Pereira (2006, "Online learning of approximate dependency parsing algorithms") for
Eisner's (1996), over words 1 .. n and the root 0. s[h, m] is the score of the arc from head h to modifier m, -inf where
the evidence excludes it; b is the score of a pair of siblings, 0 if pairs have no scores:

    S[i, j] = max_{i <= k < j} R[i, k] + L[k+1, j]         two siblings, and all between them
    r[i, j] = s[i, j] + max(b(i, i, j) + L[i+1, j],  max_{i < k < j} r[i, k] + b(i, k, j) + S[k, j])
    l[i, j] = s[j, i] + max(b(i, i, j) + R[i, j-1],  max_{i < k < j} S[i, k] + b(i, k, j) + l[k, j])
    R[i, j] = max_{i < m <= j} r[i, m] + R[m, j]           head i, and all of it up to j;  R[i, i] = 0
    L[i, j] = max_{i <= m < j} L[i, m] + l[m, j]           head j, and all of it down to i;  L[j, j] = 0
    best    = R[0, n],  or with one child of the root      max_m s[0, m] + b(0, 0, m) + L[1, m] + R[m, n]

Only the upper triangles of the charts are filled, in rows from the last word to the first. A finished cell (i, j) is
pushed at once to all cells (i, x), x > j, that contain it: these run along rows of the charts at the same time,
so the inner loop is one pass of vector code without a sum across its lanes. There are no back pointers: the tree is
recovered from the top by repeating the comparisons of the cells that it uses, which is O(n^2).

The scores of a batch are a flat array: scores[ptr[s] : ptr[s] + (n + 1)^2] for the arcs of sentence s, row-major
[h, m], whose column 0 and diagonal are not read; scores[pair_ptr[s] : pair_ptr[s + 1]] for its pairs.

Siblings. The sibling of a modifier m of head h is the modifier of h that is nearest to m between the two; h itself
stands for none. With i < x the ends of the arc, and i <= k < x,

    right(i, k, x): the pair of head i, sibling k and modifier x,    left(i, k, x): the pair of modifier i and head x,

where k = i means no sibling in both. The numbers of a sentence of n words are the rows (i, k), one behind the other, of
x = k + 1 .. n; first all pairs to the right, then all to the left.

Kernels read the row (i, k) at stride * row(n, i, k). In a sentence whose pairs have no numbers the stride is 0, and all
rows are the same one, which is neutral.

The k best trees. The recurrence with the k best of every cell for the best (Huang and Chiang 2005, algorithm 1), every
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

from tagweave.kernels import inlined, inner, kernel
from tagweave.kernels.decode import insert_ranked


@inner
def block(n):
    """Return how many pairs there are to one side."""
    return n * (n + 1) * (n + 2) // 6


@inner
def row(n, i, k):
    """Where the row (i, k) begins in its block."""
    return block(n) - block(n - i) + (n - i) * (n - i + 1) // 2 - (n - k) * (n - k + 1) // 2


@inner
def stride(pair_ptr, s):
    """1 if the pairs of sentence s have numbers, else 0."""
    return 1 if pair_ptr[s + 1] > pair_ptr[s] else 0


@inner
def most_pairs(pair_ptr, lengths):
    """Return the room that the pairs of any sentence need, or one neutral row."""
    most = 1
    for s in range(lengths.shape[0]):
        most = max(most, lengths[s] + 1, pair_ptr[s + 1] - pair_ptr[s])
    return most


@inner
def pair(heads, m):
    """Return the number of the pair of word m, 1 .. n, of the tree `heads` in its sentence."""
    n, h = heads.shape[0], heads[m - 1]
    step = -1 if h < m else 1
    k = m + step
    while k != h and heads[k - 1] != h:
        k += step
    if h < m:
        return row(n, h, k) + m - k - 1
    if k == h:
        k = m
    return block(n) + row(n, m, k) + h - k - 1


@kernel
def pair_cells(heads, token_ptr, pair_ptr, cells):
    """Set cells int64[tokens]: where the pair of every token of whole trees stands; -1 if pairs have no numbers."""
    for s in range(token_ptr.shape[0] - 1):
        of_sentence = heads[token_ptr[s] : token_ptr[s + 1]]
        for m in range(1, of_sentence.shape[0] + 1):
            at = -1
            if pair_ptr[s + 1] > pair_ptr[s] and of_sentence[m - 1] >= 0:
                at = pair_ptr[s] + pair(of_sentence, m)
            cells[token_ptr[s] + m - 1] = at


_U = np.uintp
_ONE = np.uintp(1)
_RIGHT, _LEFT, _OUTWARD, _INWARD, _SPLIT = range(5)  # the charts R, L, r, l and S
_FIRST = (_OUTWARD, _LEFT, _OUTWARD, _SPLIT, _RIGHT)  # the charts of the parts of a cell of each chart
_SECOND = (_RIGHT, _INWARD, _SPLIT, _INWARD, _LEFT)
CHARTS, ROWS = 5, 5


@kernel
def exclude(scores, allowed):
    """Set scores = -inf where allowed, uint8 or bool [at most as many], is 0; in place."""
    for a in range(_U(allowed.shape[0])):
        if not allowed[a]:
            scores[a] = -np.inf


@inner
def longest_of(lengths):
    """Return the largest length, 0 of none."""
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    return longest


def recurrence(of, add, read, times, join, zero, one):
    """Make a kernel that fills R, L, r, l, S = charts of one sentence, on numbers with this arithmetic, and returns Z.

    `of(rows, k)` is row k of unfinished sums, `add(row, x, value)` adds to its sum x, `read(row, x)` is that sum;
    `join(cell, other, pair)` is the product of three.
    """

    @inner
    def push(cells, second_parts, to_right, to_left, first, N, rows):
        """Push the finished cells (i, j) to the cells (i, x), x >= first, that may contain them."""
        split, left, right, outward, inward = of(rows, 0), of(rows, 1), of(rows, 2), of(rows, 3), of(rows, 4)
        rightmost, leftmost, arc, siblings = cells
        L, l, R, S = second_parts  # noqa: E741 - the recurrence's name
        for x in range(first, N):
            add(split, x, times(rightmost, L[x]))
            add(left, x, times(leftmost, l[x]))
            add(right, x, times(arc, R[x]))
            add(outward, x, join(arc, S[x], to_right[x - first]))
            add(inward, x, join(siblings, l[x], to_left[x - first]))

    @inner
    def fill(n, scores, pairs, step, single_root, charts, rows):
        R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741
        split, left, right, outward, inward = of(rows, 0), of(rows, 1), of(rows, 2), of(rows, 3), of(rows, 4)
        N, to_left = _U(n + 1), step * block(n)
        for at in range(n, 0 if single_root else -1, -1):
            i = _U(at)
            R[i, i] = one
            L[i, i] = one
            alone = step * row(n, at, at)
            for x in range(i + _ONE, N):
                for k in range(ROWS):
                    rows[k, x] = zero
                add(split, x, L[i + _ONE, x])
                add(outward, x, times(L[i + _ONE, x], pairs[alone + x - i - _ONE]))
            if at < n:
                add(inward, i + _ONE, pairs[to_left + alone])
            for j in range(i + _ONE, N):
                siblings, out = read(split, j), times(read(outward, j), scores[i, j])
                into = times(read(inward, j), scores[j, i]) if at > 0 else zero
                add(right, j, out)
                add(left, j, into)
                rightmost, leftmost = read(right, j), read(left, j)
                R[i, j], L[i, j], r[i, j], l[i, j], S[i, j] = rightmost, leftmost, out, into, siblings
                first = j + _ONE
                if first < N and (rightmost > zero or leftmost > zero or siblings > zero):
                    add(inward, first, times(rightmost, pairs[to_left + alone + j - i]))
                    pair_row = step * row(n, at, j)
                    cells, second_parts = (rightmost, leftmost, out, siblings), (L[first], l[j], R[j], S[j])
                    push(cells, second_parts, pairs[pair_row:], pairs[to_left + pair_row :], first, N, rows)
        if single_root:
            rows[0, n] = zero
            for m in range(1, n + 1):
                add(split, n, times(times(times(scores[0, m], pairs[m - 1]), L[1, m]), R[m, n]))
            R[0, n] = read(split, n)
        return R[0, n]

    return fill


row_of, read = inlined(lambda rows, k: rows[k]), inlined(lambda row, x: row[x])
plus, plus_both = inlined(lambda a, b: a + b), inlined(lambda a, b, c: a + b + c)


@inlined
def _raise(row, x, value):
    row[x] = value if value > row[x] else row[x]


fill = recurrence(row_of, _raise, read, plus, plus_both, -np.inf, 0.0)


@kernel
def best_heads(scores, ptr, pair_ptr, lengths, single_root, heads):
    """Set heads int32[sum of lengths] to the best projective trees, -1 for all words of a sentence that allows none.

    scores float32 or float64 (flat), ptr and pair_ptr int64[B + 1], lengths int64[B] (words without the root; 0 is
    allowed). single_root: whether the root has exactly one child. Ties are broken deterministically.
    """
    longest = longest_of(lengths)
    space = np.empty(CHARTS * (longest + 2) ** 2, scores.dtype)
    rows = np.empty((ROWS, longest + 2), scores.dtype)
    neutral = np.zeros(longest + 1, scores.dtype)
    stack = np.empty((3 * longest + 8, 4), np.int32)
    token = 0
    for s in range(lengths.shape[0]):
        n, of_sentence = lengths[s], heads[token : token + lengths[s]]
        of_sentence[:] = -1
        if n > 0:
            arcs = scores[ptr[s] : ptr[s] + (n + 1) * (n + 1)].reshape((n + 1, n + 1))
            charts = space[: CHARTS * (n + 2) * (n + 2)].reshape((CHARTS, n + 2, n + 2))
            step = stride(pair_ptr, s)
            pairs = scores[pair_ptr[s] : pair_ptr[s + 1]] if step else neutral
            if fill(n, arcs, pairs, step, single_root, charts, rows) > -np.inf:
                _trace_best((arcs, pairs, step, charts), single_root, 0, stack, of_sentence)
        token += n


@inlined
def _bounds(kind, i, j):
    """Return where a cell other than an arc's divides first, and no longer, and how far on its second part begins."""
    return (i + 1, j + 1, 0) if kind == _RIGHT else (i, j, 1 if kind == _SPLIT else 0)


def _tracing(parts_of):
    """Make a kernel for the heads of a tree from its whole downwards.

    `parts_of(source, single_root, kind, i, j, rank)` is where the best, or one of the k best, of a cell divides, and
    the ranks of both parts.
    """

    @inner
    def put(stack, size, kind, i, j, rank):
        """Put a cell on the stack, unless it is one word or a root that has no child. Returns the new size."""
        if i == j:
            return size
        stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = kind, i, j, rank
        return size + 1

    @inner
    def trace(source, single_root, rank, stack, heads):
        size = put(stack, 0, _RIGHT, 0, heads.shape[0], rank)
        while size > 0:
            size -= 1
            kind, i, j = stack[size, 0], stack[size, 1], stack[size, 2]
            at, a, b = parts_of(source, single_root, kind, i, j, stack[size, 3])
            if kind == _OUTWARD:
                heads[j - 1] = i
            elif kind == _INWARD:
                heads[i - 1] = j
            if kind == _OUTWARD and at == i:
                size = put(stack, size, _LEFT, i + 1, j, b)
            elif kind == _INWARD and at == i:
                size = put(stack, size, _RIGHT, i, j - 1, a)
            elif kind == _RIGHT and single_root and i == 0:
                heads[at - 1] = 0
                size = put(stack, size, _LEFT, 1, at, a)
                size = put(stack, size, _RIGHT, at, j, b)
            else:
                size = put(stack, size, _FIRST[kind], i, at, a)
                size = put(stack, size, _SECOND[kind], at + (1 if kind == _SPLIT else 0), j, b)

    return trace


@inner
def _best_parts(source, single_root, kind, i, j, rank):
    arcs, pairs, step, charts = source
    n, first, second = arcs.shape[0] - 1, _FIRST[kind], _SECOND[kind]
    if kind == _RIGHT and single_root and i == 0:
        at, L, R = 1, charts[_LEFT], charts[_RIGHT]
        while at < n and not arcs[0, at] + pairs[at - 1] + L[1, at] + R[at, n] >= R[0, n]:
            at += 1
    elif _OUTWARD <= kind <= _INWARD:
        begin = j - 1 + (step * block(n) if kind == _INWARD else 0)
        alone = charts[_LEFT, i + 1, j] if kind == _OUTWARD else charts[_RIGHT, i, j - 1]
        at, best = i, alone + pairs[begin + step * row(n, i, i) - i]
        for k in range(i + 1, j):
            value = charts[first, i, k] + charts[second, k, j] + pairs[begin + step * row(n, i, k) - k]
            if value > best:
                at, best = k, value
    else:
        at, high, offset = _bounds(kind, i, j)
        best = charts[first, i, at] + charts[second, at + offset, j]
        for k in range(at + 1, high):
            value = charts[first, i, k] + charts[second, k + offset, j]
            if value > best:
                at, best = k, value
    return at, rank, rank


@inner
def _ranked_parts(charts, single_root, kind, i, j, rank):
    (source, ranks), k = charts, charts[0].shape[3]
    return source[kind, i, j, rank], ranks[kind, i, j, rank] // k, ranks[kind, i, j, rank] % k


_trace_best, _trace_one_of_k = _tracing(_best_parts), _tracing(_ranked_parts)


@kernel
def k_best(scores, pairs, single_root, heads, totals):
    """The k best trees of one sentence as heads int32[k, n] and totals float64[k].

    scores float[n + 1, n + 1], -inf where the evidence excludes an arc; pairs, in their order, or
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
            _divide(_SPLIT, i, j, values, source, ranks)
            _fill_arcs(scores, pairs, step, i, j, values, source, ranks)
            _divide(_RIGHT, i, j, values, source, ranks)
            if i > 0:
                _divide(_LEFT, i, j, values, source, ranks)
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
            _trace_one_of_k((source, ranks), single_root, rank, stack, heads[rank])


@inlined
def _divide(kind, i, j, values, source, ranks):
    """Fill the list of a cell other than an arc's."""
    low, high, offset = _bounds(kind, i, j)
    for at in range(low, high):
        left, right = values[_FIRST[kind], i, at], values[_SECOND[kind], at + offset, j]
        _combine(left, right, 0.0, at, values[kind, i, j], source[kind, i, j], ranks[kind, i, j])


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
