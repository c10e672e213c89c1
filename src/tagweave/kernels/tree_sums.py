"""Sum-product over projective dependency trees, under evidence: log Z and the probability of every arc.

The recurrence of `kernels.tree` with sums for maxima and products for sums. With p[h, m] = exp(s[h, m] - shift[m]), exactly
0 where the evidence excludes an arc:

    S[i, j] = sum_k R[i, k] L[k+1, j]            r[i, j] = S[i, j] p[i, j]        l[i, j] = S[i, j] p[j, i]
    R[i, j] = sum_m r[i, m] R[m, j]              L[i, j] = sum_m L[i, m] l[m, j]
    Z       = R[0, n],  or with one child of the root  sum_m p[0, m] L[1, m] R[m, n]

Every tree has one head for every word, so shifts, the best score into each word, change Z by a factor alone: log Z gets their
sum back. What follows from a cell, d log Z / d cell, is found by running the pushes backwards; the probability of an
arc is its cell times that. The evidence is in p alone: one recurrence gives Z of all trees and Z of those that are allowed.

Range. With A[m] = sum_h p[h, m], a cell is at most the product of A over its words, what completes it to trees at most
that over all others. So what is lost below the smallest number is harmless if Z is not as small beside the product of all
A; and nothing is lost at all if no cell is very small. Where neither holds (scores of some hundred nats that disagree with
every tree, or hundreds of words), `kernels.tree_logarithms` does the sentence again.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tagweave.kernels import kernel
from tagweave.kernels.tree_logarithms import log_marginals

_U = np.uintp
_ONE = np.uintp(1)
_LARGEST = 1e200  # of a cell; its derivative times it then still says what 1e-100 of the probability is
_LEAST = 1e-100  # of a cell that is not 0: products of three of them are not 0 either
_LOG_SHARE = -575.0  # log 1e-250, of Z in the product of all A
CHARTS = 9


@kernel
def marginals(scores, allowed, ptr, lengths, single_root, marginal, log_z):
    """Set marginal[arc] = P(arc) and log_z float64[B]; -inf and all 0 where no tree is allowed.

    scores float32 or float64 (flat, as in `kernels.tree`, whose single_root, ptr and lengths these are); a score of -inf
    excludes an arc, too. allowed uint8 or bool (flat), or empty: everything is. marginal float (flat), 0 in column 0 and
    on the diagonal. The gradient of log Z(all) - log Z(allowed) is the difference of two such marginals.
    """
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    space = np.empty(CHARTS * (longest + 2) ** 2)
    rows = np.empty((3, longest + 2))
    for s in range(lengths.shape[0]):
        n = lengths[s]
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        evidence = allowed[cells] if allowed.shape[0] else allowed
        log_z[s] = _sentence(scores[cells], evidence, n, single_root, space, rows, marginal[cells])


@kernel
def _sentence(scores, allowed, n, single_root, space, rows, marginal):
    """log Z of one sentence; sets its marginals."""
    marginal[:] = 0
    if n == 0:
        return 0.0
    charts = space[: CHARTS * (n + 2) * (n + 2)].reshape((CHARTS, n + 2, n + 2))
    p = charts[0]
    shift, log_product, narrow = _potentials(scores, allowed, n, p)
    if shift == -np.inf:  # a word without any head
        return -np.inf
    out = marginal.reshape((n + 1, n + 1))
    least, largest = _inside(n, single_root, charts, rows)
    total = _total(n, single_root, charts)
    lossless = not narrow and least > _LEAST
    if lossless and total == 0:
        return -np.inf
    if largest < _LARGEST and total > 0 and (lossless or math.log(total) - log_product > _LOG_SHARE):
        _outside(n, single_root, total, charts, rows, out)
        return shift + math.log(total)
    _shifted(scores, allowed, n, p)
    total = log_marginals(n, single_root, charts, out)
    return shift + total


@kernel
def _best_into(scores, allowed, n, m):
    """The largest score of an arc into word m; -inf where none is allowed."""
    top = -np.inf
    for h in range(n + 1):
        a = h * (n + 1) + m
        if h != m and (allowed.shape[0] == 0 or allowed[a]):
            top = max(top, np.float64(scores[a]))
    return top


@kernel
def _shifted(scores, allowed, n, p):
    """p[h, m] = s[h, m] - shift[m], -inf where an arc is excluded."""
    for m in range(1, n + 1):
        top = _best_into(scores, allowed, n, m)
        p[m, 0] = -np.inf
        for h in range(n + 1):
            a = h * (n + 1) + m
            p[h, m] = scores[a] - top if h != m and (allowed.shape[0] == 0 or allowed[a]) else -np.inf


@kernel
def _potentials(scores, allowed, n, p):
    """Set p. Returns the sum of all shifts, log of the product of all A, and whether a potential is very small."""
    shifts, log_product, narrow = 0.0, 0.0, False
    for m in range(1, n + 1):
        top = _best_into(scores, allowed, n, m)
        if top == -np.inf:
            return top, 0.0, False
        shifts += top
        total = 0.0
        p[m, 0] = 0.0
        for h in range(n + 1):
            a = h * (n + 1) + m
            p[h, m] = 0.0
            if h != m and (allowed.shape[0] == 0 or allowed[a]) and scores[a] > -np.inf:
                value = math.exp(scores[a] - top)
                narrow |= value < _LEAST
                p[h, m] = value
                total += value
        log_product += math.log(total)
    return shifts, log_product, narrow


@kernel
def _inside(n, single_root, charts, rows):
    """Fill R, L, r, l, S = charts[1:6]. Returns the least cell that is not 0, and the largest."""
    p, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    split, left, right = rows[0], rows[1], rows[2]
    N = _U(n + 1)
    least, largest = np.inf, 0.0
    for row in range(n, 0 if single_root else -1, -1):
        i = _U(row)
        R[i, i] = 1.0
        L[i, i] = 1.0
        for x in range(i + _ONE, N):
            split[x] = L[i + _ONE, x]
            left[x] = 0.0
            right[x] = 0.0
        for j in range(i + _ONE, N):
            outward, inward = split[j] * p[i, j], split[j] * p[j, i]
            rightmost, leftmost = right[j] + outward, left[j] + inward
            S[i, j], R[i, j], L[i, j], r[i, j], l[i, j] = split[j], rightmost, leftmost, outward, inward
            for value in (split[j], outward, inward, rightmost, leftmost):
                largest = max(largest, value)
                if value > 0:
                    least = min(least, value)
            if rightmost > 0 or leftmost > 0:
                _push(rightmost, leftmost, outward, L[j + _ONE], l[j], R[j], j + _ONE, N, split, left, right)
    return least, largest


@kernel
def _push(rightmost, leftmost, outward, L, l, R, first, N, split, left, right):  # noqa: E741
    """Cells (i, x), x >= first, of which the finished cell (i, j) is a part."""
    for x in range(first, N):
        split[x] += rightmost * L[x]
        left[x] += leftmost * l[x]
        right[x] += outward * R[x]


@kernel
def _total(n, single_root, charts):
    """Z in potentials."""
    p, R, L = charts[0], charts[1], charts[2]
    if not single_root:
        return R[0, n]
    total = 0.0
    for m in range(1, n + 1):
        total += p[0, m] * L[1, m] * R[m, n]
    return total


@kernel
def _outside(n, single_root, total, charts, rows, marginal):
    """From the charts of `_inside`, set marginal float[n + 1, n + 1]. dR, dL, dl = charts[6:9] are derivatives.

    Derivatives of a cell that no tree reaches have no bound: they may be inf, and inf * 0 nan, so they are never used.
    """
    p, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    dR, dL, dl = charts[6], charts[7], charts[8]
    split, left, right = rows[0], rows[1], rows[2]
    for i in range(n + 1):
        for j in range(i, n + 1):
            dR[i, j] = 0.0
            dL[i, j] = 0.0
            dl[i, j] = 0.0
    if single_root:
        for m in range(1, n + 1):
            share = p[0, m] / total
            if share > 0:
                dL[1, m] += share * R[m, n]
                dR[m, n] += share * L[1, m]
                marginal[0, m] = share * L[1, m] * R[m, n]
    else:
        dR[0, n] = 1.0 / total
    N = _U(n + 1)
    for row in range(1 if single_root else 0, n):
        i = _U(row)
        for back in range(n - row):
            j = _U(n - back)
            first = j + _ONE
            a = _pull(R[i, j], split, L[first], dL[first], first, N)
            b = _pull(L[i, j], left, l[j], dl[j], first, N)
            c = _pull(r[i, j], right, R[j], dR[j], first, N)
            right[j] = dR[i, j] + a if R[i, j] > 0 else 0.0
            left[j] = dL[i, j] + b if L[i, j] > 0 else 0.0
            outward = right[j] + c if r[i, j] > 0 else 0.0
            inward = left[j] + dl[i, j] if l[i, j] > 0 else 0.0
            split[j] = p[i, j] * outward + p[j, i] * inward
            marginal[i, j] = r[i, j] * outward
            marginal[j, i] = l[i, j] * inward
        for x in range(i + _ONE, N):
            dL[i + _ONE, x] += split[x]


@partial(kernel, reassociate=True)
def _pull(cell, grown, part, derivative, first, N):
    """One push backwards: derivative += cell * grown. Returns sum grown * part, the derivative of the cell itself."""
    total = 0.0
    for x in range(first, N):
        total += grown[x] * part[x]
        derivative[x] += cell * grown[x]
    return total
