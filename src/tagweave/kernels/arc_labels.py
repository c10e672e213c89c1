"""A log-linear classifier of arcs over hashed features: scores, and the gradient of its marginal likelihood.

score[a, y] = sum_f W[features[a, f], y]        p[y] = exp(score[y]) / Z        q[y] = p[y] / p(allowed), 0 elsewhere
loss[a] = log Z - log sum_{y allowed} exp(score[a, y])                          d loss / d score[y] = p[y] - q[y]
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel

_U = np.uintp
_LEFT = np.uint64(0xA0761D6478BD642F)


@kernel
def arc_features(codes, sizes, ptr, heads, rows, features):
    """features int32[N, F] = the rows of the arcs to heads int32[N], from codes as `kernels.arcs` has them."""
    T, U, V = sizes[0], sizes[1], sizes[2]
    mask = np.uint64(rows - 1)
    token = 0
    for s in range(ptr.shape[0] - 1):
        for m in range(1, ptr[s + 1] - ptr[s]):
            h, q = ptr[s] + max(0, heads[token]), ptr[s] + m
            direction = _LEFT if h > q else np.uint64(0)
            for t in range(T):
                features[token, t] = (codes[h, t] + codes[q, T + t] + direction) & mask
            for r in range(2 * T, 2 * T + U + V):
                features[token, r - T] = (codes[h if r < 2 * T + U else q, r] + direction) & mask
            token += 1


@kernel
def score_labels(weights, features, scores):
    """Set scores float[N, Y]."""
    for a in range(features.shape[0]):
        _score(weights, features[a], scores[a])


@kernel
def _score(weights, features, scores):
    scores[:] = 0
    for f in range(features.shape[0]):
        row = weights[_U(features[f])]
        for y in range(_U(scores.shape[0])):
            scores[y] += row[y]


@kernel
def add_label_loss(weights, features, allowed, counts, gradient):
    """The loss of all arcs, each times counts[a]; its gradient is added to gradient float[rows, Y]."""
    Y = weights.shape[1]
    p = np.empty(Y, weights.dtype)
    total = 0.0
    for a in range(features.shape[0]):
        _score(weights, features[a], p)
        top = p.max()
        z, inside = 0.0, 0.0
        for y in range(Y):
            p[y] = np.exp(p[y] - top)
            z += p[y]
            if allowed[a, y]:
                inside += p[y]
        inside = max(inside, 1e-30)
        total += counts[a] * (np.log(z) - np.log(inside))
        for y in range(Y):
            q = p[y] / inside if allowed[a, y] else 0.0
            p[y] = counts[a] * (p[y] / z - q)
        for f in range(features.shape[1]):
            row = gradient[_U(features[a, f])]
            for y in range(Y):
                row[y] += p[y]
    return total


@kernel
def add_label_mistakes(weights, features, allowed, counts, gradient):
    """Adds features(best) - features(best allowed) of the arcs whose best relation is not allowed; returns how many."""
    Y = weights.shape[1]
    scores = np.empty(Y, weights.dtype)
    mistakes = 0
    for a in range(features.shape[0]):
        _score(weights, features[a], scores)
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
