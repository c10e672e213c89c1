"""Scores of trees made ready for sums: shifted, so that the best potential of each word is 1.

Every tree has one head for every word, so a shift of the scores of all arcs into a word changes Z by a factor. The best
score of the pairs of siblings of an arc is added to the arc's, so that no potential q of a pair is above 1.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner
from tagweave.kernels.projective import is_projective, is_tree
from tagweave.kernels.siblings import block, pair, row

_U = np.uintp


@inner
def shifted(scores, allowed, n, p, rows):
    """Set p[h, m] = s[h, m] - the best score into m, -inf where an arc is excluded.

    Returns the sum of the best scores, -inf if a word has no head, and the number of arcs that are not excluded.
    """
    best = rows[0]
    best[: n + 1] = -np.inf
    allows = 0
    for h in range(n + 1):
        for m in range(n + 1):
            a = h * (n + 1) + m
            value = -np.inf
            if m > 0 and m != h and (allowed.shape[0] == 0 or allowed[a]):
                value = np.float64(scores[a])
            p[h, m] = value
            allows += value > -np.inf
            best[m] = max(best[m], value)
    total = 0.0
    for m in range(1, n + 1):
        total += best[m]
    if total > -np.inf:
        best[0] = 0.0
        for h in range(n + 1):
            for m in range(n + 1):
                p[h, m] -= best[m]
    return total, allows


@inner
def shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q):
    """As `shifted`, with the best score of the pairs of each arc added to the arc's; q = what is left of the pairs'."""
    p, folded = charts[0], charts[1].reshape(-1)[: (n + 1) * (n + 1)]
    for a in range((n + 1) * (n + 1)):
        folded[a] = scores[a]
    q[:] = pairs
    if step:
        _fold(n, q, folded.reshape((n + 1, n + 1)), charts[2])
    return shifted(folded, allowed, n, p, rows)


@inner
def _fold(n, q, arcs, best):
    """arcs += the best score of each arc's pairs; q -= it."""
    for side in range(2):
        begin = side * block(n)
        for i in range(n):
            best[i, i + 1 : n + 1] = -np.inf
            for k in range(i, n):
                at = begin + row(n, i, k) - k - 1
                for x in range(_U(k + 1), _U(n + 1)):
                    best[i, x] = max(best[i, x], q[at + x])
            for k in range(i, n):
                at = begin + row(n, i, k) - k - 1
                for x in range(_U(k + 1), _U(n + 1)):
                    q[at + x] -= best[i, x]
            for x in range(i + 1, n + 1):
                if side == 0:
                    arcs[i, x] += best[i, x]
                else:
                    arcs[x, i] += best[i, x]


@inner
def potentials(n, gauge, p, rows):
    """p = exp(p - gauge). Returns log of the product of all A, and the least (of allowed arcs) and the largest p."""
    totals = rows[0]
    totals[:] = 0.0
    least, largest = np.inf, 0.0
    for h in range(n + 1):
        for m in range(n + 1):
            if p[h, m] > -np.inf:
                value = math.exp(p[h, m] - gauge)
                p[h, m] = value
                totals[m] += value
                least, largest = min(least, value), max(largest, value)
            else:
                p[h, m] = 0.0
    log_product = 0.0
    for m in range(1, n + 1):
        log_product += math.log(totals[m])
    return log_product, least, largest


@inner
def only_heads(n, p):
    """int32[n]: the heads of the words, where every word has one left."""
    heads = np.empty(n, np.int32)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if p[h, m] > -np.inf:
                heads[m - 1] = h
    return heads


@inner
def take_only_heads(heads, single_root, projective, marginal):
    """Set the marginals of the only heads to 1 if they form a tree, without arcs that cross if `projective`. Returns
    whether."""
    if not is_tree(heads, single_root) or (projective and not is_projective(heads)):
        return False
    for m in range(1, heads.shape[0] + 1):
        marginal[heads[m - 1], m] = 1
    return True


@inner
def take_only_pairs(heads, step, q, of_pairs):
    """Set the marginals of the pairs of the only tree to 1. Returns the sum of their q."""
    total = 0.0
    if step:
        for m in range(1, heads.shape[0] + 1):
            at = pair(heads, m)
            total += q[at]
            of_pairs[at] = 1
    return total
