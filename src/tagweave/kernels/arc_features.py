"""Scores of pairs of siblings and of relations from hashed features, and their gradients.

    score(h, s, m) = sum_x W[row, 0] + W[row, bin(|s - m|)],    row = H_x[h] + S_x[s] + M_x[m] + D[direction] (mod rows)

over X templates of head, sibling and modifier and Y of the last two alone, which are summed once for all heads; in the
table of the features of arcs (`kernels.arcs`, whose columns of codes these follow). Where m has no sibling, S is a
constant, and there is no distance. Pairs are ordered as in `kernels.tree`.

    codes    uint64[P, R]    from column `first`: X heads, X + Y siblings, X + Y modifiers
    sizes    int64[2]        X, Y
    weights  float[rows, 8]  rows a power of two

Relations have a log-linear classifier of arcs:

    score[a, y] = sum_f W[features[a, f], y]
    Z[a]        = sum_y share[a, y] exp(score[a, y])        p[a, y] = share[a, y] exp(score[a, y]) / Z[a]
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inlined, inner, kernel
from tagweave.kernels.arcs import BINS, LEFT, distance_bin, enlarge, enter, longest_between, note
from tagweave.kernels.instructions import prefetch, put
from tagweave.kernels.tree import block, row

_U = np.uintp
_NONE = np.uint64(0xE7037ED1A0B428DB)


@inner
def _sibling(codes, first, sizes, k, is_none, t):
    """Return the code of sibling k in template t."""
    return _NONE if is_none else codes[k, first + sizes[0] + t]


@inner
def _of_two(codes, first, sizes, k, m, is_none, left, t):
    """Return the code of a feature of sibling and modifier alone."""
    direction = np.uint64(left) * LEFT
    modifier = codes[m, first + 2 * sizes[0] + sizes[1] + t]
    return _sibling(codes, first, sizes, k, is_none, t) + modifier + direction


@inner
def _feature(codes, first, sizes, i, k, x, left, t):
    """Return the code of feature t of the pair at cell x of row (i, k)."""
    h, m = (x, i) if left else (i, x)
    code = _of_two(codes, first, sizes, k, m, k == i, left, t)
    return code + codes[h, first + t] if t < sizes[0] else code


@kernel
def score_pairs(weights, codes, first, sizes, ptr, pair_ptr, scores):
    """Set the scores of the pairs of all sentences of `ptr` that have room in `pair_ptr`.

    Rows of pairs are summed template by template, so that many loads are under way at a time.
    """
    X = sizes[0]
    flat, rows = weights.reshape(-1), np.uint64(weights.shape[0] - 1)
    longest = longest_between(ptr)
    last, two = np.empty((X, longest), np.uint64), np.empty((longest, longest), weights.dtype)
    distances = np.empty(longest, np.uintp)
    for d in range(longest):
        distances[d] = distance_bin(d)
    for s in range(ptr.shape[0] - 1):
        if pair_ptr[s + 1] == pair_ptr[s]:
            continue
        of_sentence = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = of_sentence.shape[0] - 1
        for left in range(2):
            _score_two(flat, rows, of_sentence, first, sizes, n, left, two)
            of_last = first if left else first + 2 * X + sizes[1]
            for t in range(X):
                for x in range(n + 1):
                    last[t, x] = of_sentence[x, of_last + t] + np.uint64(left) * LEFT
            for i in range(n):
                for k in range(i, n):
                    begin = pair_ptr[s] + left * block(n) + row(n, i, k)
                    out = scores[begin : begin + n - k]
                    _start_row(two, i, k, n, left, out)
                    if left and i == 0:
                        continue
                    for t in range(X):
                        sibling = _sibling(of_sentence, first, sizes, k, k == i, t)
                        joined = sibling + of_sentence[i, first + t + (2 * X + sizes[1] if left else 0)]
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
        put(out, two[k, i] if i > 0 else two.dtype.type(0))
    elif k > i:
        for x in range(k + 1, n + 1):
            out[x - k - 1] = two[k, x]
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
        of_sentence = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = of_sentence.shape[0] - 1
        for left in range(2):
            for i in range(left, n):
                for k in range(i, n):
                    begin = pair_ptr[s] + left * block(n) + row(n, i, k) - k - 1
                    for x in range(k + 1, n + 1):
                        d = gradient.dtype.type(difference[begin + x])
                        if abs(d) <= threshold:
                            continue
                        written = enlarge(written, size + features)
                        distance = _U(0) if k == i else _U(distance_bin(k - i if left else x - k))  # of no sibling 0
                        for t in range(features):
                            at = _U(_feature(of_sentence, first, sizes, i, k, x, left, t) & rows) * _U(BINS)
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
    touched, size = np.empty(seen.shape[0], np.int64), 0
    for s in range(ptr.shape[0] - 1):
        if pair_ptr[s + 1] == pair_ptr[s]:
            continue
        of_sentence = codes[ptr[s] - ptr[0] : ptr[s + 1] - ptr[0]]
        n = of_sentence.shape[0] - 1
        for left in range(2):
            for i in range(left, n):
                for k in range(i, n):
                    for x in range(k + 1, n + 1):
                        for t in range(features):
                            code = _feature(of_sentence, first, sizes, i, k, x, left, t)
                            size = enter(code & rows, seen, stamp, touched, size)
    return touched[:size]


_AHEAD, _LINE = np.uintp(6), np.uintp(16)  # rows to prefetch ahead; float32 numbers in a cache line
_DISTANCE = np.uint64(0xE7037ED1A0B428DB)


@kernel
def tree_places(ptr, heads, places):
    """places int32[N, 7] = the positions around every token in its tree, -1 for none: its head, itself, the modifiers
    before and after it on the same side of the head, its own first modifier to the left and last one to the right, and
    the head of its head.

    ptr int64[S + 1] are the roots, heads int32[N] by token; 0 and negative heads are the root.
    """
    put(places, -1)
    token = 0
    for s in range(ptr.shape[0] - 1):
        low, n = ptr[s], ptr[s + 1] - ptr[s] - 1
        latest = np.full((2, n + 1), -1, np.int64)  # the last modifier of every head so far, to its right and left
        for m in range(1, n + 1):
            at = token + m - 1
            h = max(0, heads[at])
            left = 1 if m < h else 0
            places[at, 0], places[at, 1] = low + h, low + m
            before = latest[left, h]
            if before >= 0:
                places[at, 2] = low + before
                places[token + before - 1, 3] = low + m
            elif left:
                places[token + h - 1, 4] = low + m
            if h > 0:
                if not left:
                    places[token + h - 1, 5] = low + m
                places[at, 6] = low + max(0, heads[token + h - 1])
            latest[left, h] = m
        token += n


@kernel
def relation_features(codes, ptr, sides, with_distance, places, rows, features):
    """features int32[N, F] = the rows of every token's arc: sums of the codes of the sides of a template.

    codes uint64[P, R] by position; ptr int64[F + 1], sides int64[R] and with_distance bool[F] describe the templates.
    """
    mask = np.uint64(rows - 1)
    for a in range(places.shape[0]):
        h, m = places[a, 0], places[a, 1]
        direction = LEFT if m < h else np.uint64(0)
        step = np.uint64(distance_bin(abs(h - m))) * _DISTANCE
        for f in range(ptr.shape[0] - 1):
            code = direction
            for r in range(ptr[f], ptr[f + 1]):
                place = places[a, sides[r]]
                if place >= 0:
                    code += codes[place, r]
            if with_distance[f]:
                code += step
            features[a, f] = code & mask


@kernel
def score_labels(weights, features, scores):
    """Set scores float[N, Y] to the sums of the rows of each arc's features, prefetched from main memory."""
    rows, count, size = weights.reshape(-1), _U(features.shape[1]), _U(scores.shape[1])
    for a in range(_U(features.shape[0])):
        for y in range(size):
            scores[a, y] = 0
        for f in range(count):
            if f + _AHEAD < count:
                _ask_for(rows, _U(features[a, f + _AHEAD]) * size, size)
            first = _U(features[a, f]) * size
            for y in range(size):
                scores[a, y] += rows[first + y]


@inlined
def _ask_for(rows, first, size):
    """Start loading a row."""
    for at in range(first, first + size, _LINE):
        prefetch(rows, at)


@kernel
def label_sums(scores, allowed, noise, p, log_z):
    """p float64[A, Y] = the probabilities of labels, log_z float64[A] = log Z less the largest score.

    allowed bool or float64[A, Y] is the share of its potential that a label keeps, noise float64[A] the share of
    labels where that is 0.
    """
    Y = _U(scores.shape[1])
    for a in range(_U(scores.shape[0])):
        top = scores[a, 0]
        for y in range(_U(1), Y):
            top = max(top, scores[a, y])
        z = 0.0
        for y in range(Y):
            p[a, y] = np.exp(scores[a, y] - top)
            z += p[a, y] * (np.float64(allowed[a, y]) if allowed[a, y] > 0 else noise[a])
        z = max(z, 1e-30)
        log_z[a] = np.log(z)
        for y in range(Y):
            p[a, y] = p[a, y] / z * (np.float64(allowed[a, y]) if allowed[a, y] > 0 else noise[a])


@kernel
def add_label_gradient(features, difference, gradient):
    """Add the difference float[A, Y] to the rows of gradient float[rows, Y] of every arc's features."""
    rows, count, size = gradient.reshape(-1), _U(features.shape[1]), _U(difference.shape[1])
    for a in range(_U(features.shape[0])):
        for f in range(count):
            if f + _AHEAD < count:
                _ask_for(rows, _U(features[a, f + _AHEAD]) * size, size)
            first = _U(features[a, f]) * size
            for y in range(size):
                rows[first + y] += difference[a, y]
