"""Scores of pairs of siblings from hashed features, and their gradient.

    score(h, s, m) = sum_x W[row, 0] + W[row, bin(|s - m|)],    row = H_x[h] + S_x[s] + M_x[m] + D[direction] (mod rows)

over X templates of head, sibling and modifier and Y of the last two alone, which are summed once for all heads; in the
table of the features of arcs (`kernels.arcs`, whose columns of codes these follow). Where m has no sibling, S is a
constant, and there is no distance. The order of pairs is that of `kernels.siblings`.

    codes    uint64[P, R]    from column `first`: X heads, X + Y siblings, X + Y modifiers
    sizes    int64[2]        X, Y
    weights  float[rows, 8]  rows a power of two
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.arcs import BINS, LEFT, distance_bin, enlarge, enter, note
from tagweave.kernels.siblings import block, row

_U = np.uintp
_NONE = np.uint64(0xE7037ED1A0B428DB)


@inner
def _sibling(codes, first, sizes, k, is_none, t):
    """The code of sibling k in template t."""
    return _NONE if is_none else codes[k, first + sizes[0] + t]


@inner
def _of_two(codes, first, sizes, k, m, is_none, left, t):
    """The code of a feature of sibling and modifier alone."""
    direction = np.uint64(left) * LEFT
    modifier = codes[m, first + 2 * sizes[0] + sizes[1] + t]
    return _sibling(codes, first, sizes, k, is_none, t) + modifier + direction


@inner
def _feature(codes, first, sizes, i, k, x, left, t):
    """The code of feature t of the pair at cell x of row (i, k)."""
    h, m = (x, i) if left else (i, x)
    code = _of_two(codes, first, sizes, k, m, k == i, left, t)
    return code + codes[h, first + t] if t < sizes[0] else code


@inner
def _distance(i, k, x, left):
    """The bin of the distance between sibling and modifier; 0, whose weight always counts, of none."""
    return _U(0) if k == i else _U(distance_bin(k - i if left else x - k))


@kernel
def score_pairs(weights, codes, first, sizes, ptr, pair_ptr, scores):
    """Set the scores of the pairs of all sentences of `ptr` that have room in `pair_ptr`.

    Rows of pairs are summed template by template, so that many loads are under way at a time.
    """
    X = sizes[0]
    flat, rows = weights.reshape(-1), np.uint64(weights.shape[0] - 1)
    longest = np.max(ptr[1:] - ptr[:-1]) if ptr.shape[0] > 1 else 0
    last, two = np.empty((X, longest), np.uint64), np.empty((longest, longest), weights.dtype)
    distances = np.empty(longest, np.uintp)
    for d in range(longest):
        distances[d] = distance_bin(d)
    for s in range(ptr.shape[0] - 1):
        if pair_ptr[s + 1] == pair_ptr[s]:
            continue
        own = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = own.shape[0] - 1
        for left in range(2):
            _score_two(flat, rows, own, first, sizes, n, left, two)
            of_last = first if left else first + 2 * X + sizes[1]
            for t in range(X):
                for x in range(n + 1):
                    last[t, x] = own[x, of_last + t] + np.uint64(left) * LEFT
            for i in range(n):
                for k in range(i, n):
                    begin = pair_ptr[s] + left * block(n) + row(n, i, k)
                    out = scores[begin : begin + n - k]
                    _start_row(two, i, k, n, left, out)
                    if left and i == 0:
                        continue
                    for t in range(X):
                        sibling = _sibling(own, first, sizes, k, k == i, t)
                        joined = sibling + own[i, first + t + (2 * X + sizes[1] if left else 0)]
                        if k == i:
                            _add_alone(flat, rows, last[t, k + 1 :], joined, out)
                        elif left:
                            _add_left(flat, rows, last[t, k + 1 :], joined, distances[k - i], out)
                        else:
                            _add_right(flat, rows, last[t, k + 1 :], joined, distances, out)


@inner
def _start_row(two, i, k, n, left, out):
    """Set row (i, k) to the sums of sibling and modifier alone; to 0 where the root would be the modifier."""
    if left:
        out[:] = two[k, i] if i > 0 else 0
    elif k > i:
        out[:] = two[k, k + 1 : n + 1]
    else:
        for x in range(k + 1, n + 1):
            out[x - k - 1] = two[x, x]


@inner
def _add_alone(flat, rows, last, joined, out):
    """Add a template where there is no sibling."""
    for x in range(_U(out.shape[0])):
        out[x] += flat[_U((joined + last[x]) & rows) * _U(BINS)]


@inner
def _add_left(flat, rows, last, joined, distance, out):
    """Add a template where sibling and modifier are the same along the row."""
    for x in range(_U(out.shape[0])):
        at = _U((joined + last[x]) & rows) * _U(BINS)
        out[x] += flat[at] + flat[at + distance]


@inner
def _add_right(flat, rows, last, joined, distances, out):
    """Add a template where the modifier is further away with every cell of the row."""
    for x in range(_U(out.shape[0])):
        at = _U((joined + last[x]) & rows) * _U(BINS)
        out[x] += flat[at] + flat[at + distances[x + _U(1)]]


@inner
def _score_two(flat, rows, codes, first, sizes, n, left, two):
    """two[s, m] = the sum over templates of sibling and modifier alone; two[m, m] without sibling."""
    for m in range(1, n + 1):
        for k in range(m, n + 1) if left else range(1, m + 1):
            total, distance = flat.dtype.type(0), _U(0 if k == m else distance_bin(abs(k - m)))
            for t in range(sizes[0], sizes[0] + sizes[1]):
                at = _U(_of_two(codes, first, sizes, k, m, k == m, left, t) & rows) * _U(BINS)
                total += flat[at]
                if distance > 0:
                    total += flat[at + distance]
            two[k, m] = total


@kernel
def add_pair_gradient(gradient, codes, first, sizes, ptr, pair_ptr, difference, threshold):
    """gradient += the features of every pair, times its difference; differences up to `threshold` are left out.

    Returns int64: the rows that were 0 before, possibly with repeats.
    """
    flat, rows = gradient.reshape(-1), np.uint64(gradient.shape[0] - 1)
    features = sizes[0] + sizes[1]
    written, size = np.empty(codes.shape[0] * max(1, features), np.int64), 0
    for s in range(ptr.shape[0] - 1):
        if pair_ptr[s + 1] == pair_ptr[s]:
            continue
        own = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = own.shape[0] - 1
        for left in range(2):
            for i in range(left, n):
                for k in range(i, n):
                    begin = pair_ptr[s] + left * block(n) + row(n, i, k) - k - 1
                    for x in range(k + 1, n + 1):
                        d = gradient.dtype.type(difference[begin + x])
                        if abs(d) <= threshold:
                            continue
                        written = enlarge(written, size + features)
                        distance = _distance(i, k, x, left)
                        for t in range(features):
                            at = _U(_feature(own, first, sizes, i, k, x, left, t) & rows) * _U(BINS)
                            size = note(flat, at, written, size)
                            flat[at] += d
                            if distance > 0:
                                flat[at + distance] += d
    return written[:size]


@kernel
def touched_pair_rows(codes, first, sizes, ptr, pair_ptr, seen, stamp):
    """int64: the distinct rows that `add_pair_gradient` may write to; `seen` and `stamp` as in
    `kernels.arcs.touched_rows`."""
    rows, features = np.uint64(seen.shape[0] - 1), sizes[0] + sizes[1]
    found, size = np.empty(seen.shape[0], np.int64), 0
    for s in range(ptr.shape[0] - 1):
        if pair_ptr[s + 1] == pair_ptr[s]:
            continue
        own = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = own.shape[0] - 1
        for left in range(2):
            for i in range(left, n):
                for k in range(i, n):
                    for x in range(k + 1, n + 1):
                        for t in range(features):
                            code = _feature(own, first, sizes, i, k, x, left, t)
                            size = enter(code & rows, seen, stamp, found, size)
    return found[:size]
