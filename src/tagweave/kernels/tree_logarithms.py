"""Sum-product over a sentence's projective trees in logarithms: for any range of scores, but slower than `tree_sums`.

With (+) the logarithm of the sum of exponentials, and the names of `kernels.tree`:

    S[i, j] = (+)_k R[i, k] + L[k+1, j]            r[i, j] = S[i, j] + s[i, j]        l[i, j] = S[i, j] + s[j, i]
    R[i, j] = (+)_m r[i, m] + R[m, j]              L[i, j] = (+)_m L[i, m] + l[m, j]

Downwards, a cell passes its probability to its parts: R[i, j], for example, passes the share
exp(r[i, m] + R[m, j] - R[i, j]), which is at most 1, to its parts at m. So there are no differences of two infinities,
and nothing can overflow; probabilities below 1e-30 are treated as 0.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel

_U = np.uintp
_ONE = np.uintp(1)
_NO_SUMMAND = -50.0  # negligible in a sum whose largest summand is 0
_NO_PROBABILITY, _NO_SHARE = 1e-30, -70.0


@kernel
def log_marginals(n, single_root, charts, marginal):
    """Set marginal float[n + 1, n + 1] and return log Z of one sentence; -inf and all 0 where no tree is allowed.

    charts float64[8, n + 2, n + 2] has the scores s[h, m] in charts[0], -inf where an arc is excluded and in column 0.
    """
    marginal[:] = 0
    _inside(n, single_root, charts)
    s, R, L = charts[0], charts[1], charts[2]
    if single_root:
        top, total = np.full(1, -np.inf), np.zeros(1)
        for m in range(1, n + 1):
            _add(s[0, m] + L[1, m] + R[m, n], top, total, 0)
        log_z = _log(top, total, 0)
    else:
        log_z = R[0, n]
    if log_z > -np.inf:
        _outside(n, single_root, log_z, charts, marginal)
    return log_z


@inner
def _add(value, tops, totals, x):
    """Add exp(value) to the sum exp(tops[x]) totals[x]."""
    gap = value - tops[x]
    if gap <= 0:
        if gap > _NO_SUMMAND:
            totals[x] += math.exp(gap)
    elif value > -np.inf:
        tops[x] = value
        totals[x] = totals[x] * math.exp(-gap) + 1


@inner
def _log(tops, totals, x):
    """The logarithm of the sum exp(tops[x]) totals[x]."""
    return tops[x] + math.log(totals[x]) if totals[x] > 0 else -np.inf


@inner
def _inside(n, single_root, charts):
    """Fill R, L, l, S = charts[1:5]."""
    s, R, L, l, S = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741 - the recurrence's name
    tops, totals = np.empty((3, n + 2)), np.empty((3, n + 2))
    N = _U(n + 1)
    for row in range(n, 0 if single_root else -1, -1):
        i = _U(row)
        R[i, i] = 0.0
        L[i, i] = 0.0
        for x in range(i + _ONE, N):
            tops[:, x] = -np.inf
            totals[:, x] = 0.0
            _add(L[i + _ONE, x], tops[0], totals[0], x)
        for j in range(i + _ONE, N):
            S[i, j] = _log(tops[0], totals[0], j)
            outward, l[i, j] = S[i, j] + s[i, j], S[i, j] + s[j, i]
            _add(l[i, j], tops[1], totals[1], j)
            _add(outward, tops[2], totals[2], j)
            L[i, j] = _log(tops[1], totals[1], j)
            R[i, j] = _log(tops[2], totals[2], j)
            for x in range(j + _ONE, N):
                _add(R[i, j] + L[j + _ONE, x], tops[0], totals[0], x)
                _add(L[i, j] + l[j, x], tops[1], totals[1], x)
                _add(outward + R[j, x], tops[2], totals[2], x)


@inner
def _outside(n, single_root, log_z, charts, marginal):
    """The probabilities of all cells from those of which they are parts; those of R, L, l go to charts[5:8]."""
    s, R, L, l, S = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741
    PR, PL, Pl = charts[5], charts[6], charts[7]
    charts[5:8] = 0.0
    split, left, right = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    if single_root:
        for m in range(1, n + 1):
            marginal[0, m] = math.exp(s[0, m] + L[1, m] + R[m, n] - log_z)
            PL[1, m] += marginal[0, m]
            PR[m, n] += marginal[0, m]
    else:
        PR[0, n] = 1.0
    N = _U(n + 1)
    for row in range(1 if single_root else 0, n):
        i = _U(row)
        for back in range(n - row):
            j = _U(n - back)
            first, outward = j + _ONE, S[i, j] + s[i, j]
            right[j] = PR[i, j] + _hand_down(R[i, j], S[i], split, L[first], PL[first], first, N)
            left[j] = PL[i, j] + _hand_down(L[i, j], L[i], left, l[j], Pl[j], first, N)
            marginal[i, j] = _hand_down(outward, R[i], right, R[j], PR[j], first, N) + _share(
                right[j], outward - R[i, j]
            )
            marginal[j, i] = Pl[i, j] + _share(left[j], l[i, j] - L[i, j])
            split[j] = marginal[i, j] + marginal[j, i]
        for x in range(i + _ONE, N):
            PL[i + _ONE, x] += _share(split[x], L[i + _ONE, x] - S[i, x])


@inner
def _share(probability, gap):
    """The probability times exp(gap); 0 if the probability is 0, whatever the gap."""
    return probability * math.exp(gap) if probability > _NO_PROBABILITY and gap > _NO_SHARE else 0.0


@inner
def _hand_down(cell, wholes, probabilities, others, probabilities_of_others, first, N):
    """Pass the probabilities of cells x >= first to both of their parts: one cell, shared by all, and others[x].

    Returns the probability that the shared cell gets.
    """
    total = 0.0
    for x in range(first, N):
        if probabilities[x] > _NO_PROBABILITY:
            share = _share(probabilities[x], cell + others[x] - wholes[x])
            total += share
            probabilities_of_others[x] += share
    return total
