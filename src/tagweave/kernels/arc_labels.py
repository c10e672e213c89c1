"""A log-linear classifier of arcs over hashed features: scores, and sums over labels.

score[a, y] = sum_f W[features[a, f], y]    Z = sum_y share[a, y] exp(score[a, y])    p[y] = share[y] exp(score[y]) / Z
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inlined, kernel
from tagweave.kernels.instructions import prefetch

_U = np.uintp
_AHEAD, _LINE = np.uintp(6), np.uintp(16)  # rows to prefetch ahead; float32 numbers in a cache line
_LEFT = np.uint64(0xA0761D6478BD642F)
_DISTANCE = np.uint64(0xE7037ED1A0B428DB)


@kernel
def tree_places(ptr, heads, places):
    """places int32[N, 7] = the positions around every token in its tree, -1 for none: its head, itself, the modifiers
    before and after it on the same side of the head, its own first modifier to the left and last one to the right, and
    the head of its head.

    ptr int64[S + 1] are the roots, heads int32[N] by token; 0 and negative heads are the root.
    """
    places[:] = -1
    token = 0
    for s in range(ptr.shape[0] - 1):
        low, n = ptr[s], ptr[s + 1] - ptr[s] - 1
        latest = np.full((2, n + 1), -1, np.int64)  # the last modifier of every head so far, to its right and left
        for m in range(1, n + 1):
            own = token + m - 1
            h = max(0, heads[own])
            left = 1 if m < h else 0
            places[own, 0], places[own, 1] = low + h, low + m
            before = latest[left, h]
            if before >= 0:
                places[own, 2] = low + before
                places[token + before - 1, 3] = low + m
            elif left:
                places[token + h - 1, 4] = low + m
            if h > 0:
                if not left:
                    places[token + h - 1, 5] = low + m
                places[own, 6] = low + max(0, heads[token + h - 1])
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
        direction = _LEFT if m < h else np.uint64(0)
        distance = abs(h - m)
        step = np.uint64(distance if distance <= 5 else 6 if distance <= 10 else 7) * _DISTANCE
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
    """Set scores float[N, Y]."""
    rows = weights.reshape(-1)
    for a in range(_U(features.shape[0])):
        _score(rows, features, a, scores[a])


@inlined
def _score(rows, features, a, scores):
    """scores[:] = the sum of the rows of an arc's features, prefetched since they are scattered in main memory."""
    count, size = _U(features.shape[1]), _U(scores.shape[0])
    for y in range(size):
        scores[y] = 0
    for f in range(count):
        if f + _AHEAD < count:
            _ask_for(rows, _U(features[a, f + _AHEAD]) * size, size)
        first = _U(features[a, f]) * size
        for y in range(size):
            scores[y] += rows[first + y]


@inlined
def _add(rows, features, a, difference):
    """Add the difference to the rows of an arc's features."""
    count, size = _U(features.shape[1]), _U(difference.shape[0])
    for f in range(count):
        if f + _AHEAD < count:
            _ask_for(rows, _U(features[a, f + _AHEAD]) * size, size)
        first = _U(features[a, f]) * size
        for y in range(size):
            rows[first + y] += difference[y]


@inlined
def _ask_for(rows, first, size):
    """Start loading a row."""
    for at in range(first, first + size, _LINE):
        prefetch(rows, at)


@kernel
def label_sums(scores, allowed, noise, p, log_z):
    """p float64[A, Y] = the probabilities of labels, log_z float64[A] = log Z less the largest score.

    allowed bool or float64[A, Y] is the share of its potential that a label keeps, noise float64[A] that of a label
    without one.
    """
    Y = _U(scores.shape[1])
    for a in range(_U(scores.shape[0])):
        top = scores[a].max()
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
    rows = gradient.reshape(-1)
    for a in range(_U(features.shape[0])):
        _add(rows, features, a, difference[a])


@kernel
def add_label_mistakes(weights, features, allowed, counts, gradient):
    """Add features(best) - features(best allowed) of arcs whose best relation is not allowed. Returns their number."""
    Y = weights.shape[1]
    scores = np.empty(Y, weights.dtype)
    rows, mistakes = weights.reshape(-1), 0
    for a in range(_U(features.shape[0])):
        _score(rows, features, a, scores)
        best, target = 0, -1
        for y in range(Y):
            if scores[y] > scores[best]:
                best = y
            if allowed[a, y] and (target < 0 or scores[y] > scores[target]):
                target = y
        if allowed[a, best] or target < 0 or counts[a] <= 0:
            continue
        mistakes += 1
        for f in range(features.shape[1]):
            gradient[_U(features[a, f]), best] += counts[a]
            gradient[_U(features[a, f]), target] -= counts[a]
    return mistakes
