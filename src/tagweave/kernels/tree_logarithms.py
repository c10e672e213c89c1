"""Sum-product over a sentence's projective trees in logarithms: for any range of scores, but slower than `tree_sums`.

With (+) the logarithm of the sum of exponentials, and the names of `kernels.tree`:

    S[i, j] = (+)_k R[i, k] + L[k+1, j]
    r[i, j] = s[i, j] + o[i, j]        o[i, j] = (b(i, i, j) + L[i+1, j]) (+) (+)_k r[i, k] + b(i, k, j) + S[k, j]
    l[i, j] = s[j, i] + e[i, j]        e[i, j] = (b(i, i, j) + R[i, j-1]) (+) (+)_k S[i, k] + b(i, k, j) + l[k, j]
    R[i, j] = (+)_m r[i, m] + R[m, j]              L[i, j] = (+)_m L[i, m] + l[m, j]

Downwards, a cell passes its probability to its parts: R[i, j], for example, passes the share
exp(r[i, m] + R[m, j] - R[i, j]), which is at most 1, to its parts at m. So there are no differences of two infinities,
and nothing can overflow; probabilities below 1e-30 are treated as 0.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.siblings import block, row

_U = np.uintp
_ONE = np.uintp(1)
_NO_SUMMAND = -50.0  # negligible in a sum whose largest summand is 0
_NO_PROBABILITY, _NO_SHARE = 1e-30, -70.0


@kernel
def log_marginals(n, single_root, step, pairs, charts, marginal, of_pairs):
    """Set marginal float[n + 1, n + 1] and of_pairs, and return log Z of one sentence; -inf and all 0 where no tree is
    allowed.

    charts float64[10, n + 2, n + 2] has the scores s[h, m] in charts[0], -inf where an arc is excluded and in column 0.
    pairs are the scores b, whose rows begin at `step` times those of `kernels.siblings`.
    """
    marginal[:] = 0
    of_pairs[:] = 0
    _inside(n, single_root, step, pairs, charts)
    s, R, L = charts[0], charts[1], charts[2]
    if single_root:
        top, total = np.full(1, -np.inf), np.zeros(1)
        for m in range(1, n + 1):
            _add(s[0, m] + pairs[m - 1] + L[1, m] + R[m, n], top, total, 0)
        log_z = _log(top, total, 0)
    else:
        log_z = R[0, n]
    if log_z > -np.inf:
        _outside(n, single_root, step, pairs, log_z, charts, marginal, of_pairs)
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
def _inside(n, single_root, step, pairs, charts):
    """Fill R, L, r, l, S = charts[1:6]."""
    s, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    tops, totals = np.empty((5, n + 2)), np.empty((5, n + 2))
    N, to_left = _U(n + 1), step * block(n)
    for at in range(n, 0 if single_root else -1, -1):
        i = _U(at)
        R[i, i] = 0.0
        L[i, i] = 0.0
        alone = step * row(n, at, at)
        tops[:] = -np.inf
        totals[:] = 0.0
        for x in range(i + _ONE, N):
            _add(L[i + _ONE, x], tops[0], totals[0], x)
            _add(L[i + _ONE, x] + pairs[alone + x - i - _ONE], tops[3], totals[3], x)
        if at < n:
            _add(pairs[to_left + alone], tops[4], totals[4], i + _ONE)
        for j in range(i + _ONE, N):
            S[i, j] = _log(tops[0], totals[0], j)
            r[i, j] = _log(tops[3], totals[3], j) + s[i, j]
            l[i, j] = _log(tops[4], totals[4], j) + s[j, i]
            _add(l[i, j], tops[1], totals[1], j)
            _add(r[i, j], tops[2], totals[2], j)
            L[i, j] = _log(tops[1], totals[1], j)
            R[i, j] = _log(tops[2], totals[2], j)
            first, own = j + _ONE, step * row(n, at, j)
            if first < N:
                _add(R[i, j] + pairs[to_left + alone + j - i], tops[4], totals[4], first)
            for x in range(first, N):
                _add(R[i, j] + L[first, x], tops[0], totals[0], x)
                _add(L[i, j] + l[j, x], tops[1], totals[1], x)
                _add(r[i, j] + R[j, x], tops[2], totals[2], x)
                _add(r[i, j] + S[j, x] + pairs[own + x - first], tops[3], totals[3], x)
                _add(S[i, j] + l[j, x] + pairs[to_left + own + x - first], tops[4], totals[4], x)


@inner
def _outside(n, single_root, step, pairs, log_z, charts, marginal, of_pairs):
    """The probabilities of all cells from those of which they are parts; those of R, L, l, S go to charts[6:10]."""
    s, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    PR, PL, Pl, PS = charts[6], charts[7], charts[8], charts[9]
    charts[6:10] = 0.0
    split, left, right = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    outward, inward = np.zeros(n + 2), np.zeros(n + 2)  # probabilities of arcs
    of_outward, of_inward = np.zeros(n + 2), np.zeros(n + 2)  # o and e
    unused, zeros = np.zeros(n + 2), np.zeros(n + 2)
    if single_root:
        for m in range(1, n + 1):
            marginal[0, m] = math.exp(s[0, m] + pairs[m - 1] + L[1, m] + R[m, n] - log_z)
            of_pairs[m - 1] = marginal[0, m]
            PL[1, m] += marginal[0, m]
            PR[m, n] += marginal[0, m]
    else:
        PR[0, n] = 1.0
    N, to_left = _U(n + 1), step * block(n)
    for at in range(1 if single_root else 0, n):
        i = _U(at)
        alone = step * row(n, at, at)
        for back in range(n - at):
            j = _U(n - back)
            first, own, none = j + _ONE, step * row(n, at, j), alone + j - i - _ONE
            right[j] = PR[i, j] + _hand_down(R[i, j], S[i], split, L[first], zeros, PL[first], unused, first, N)
            if first < N:
                share = _share(inward[first], R[i, j] + pairs[to_left + none + _ONE] - of_inward[first])
                of_pairs[to_left + none + _ONE] = share
                right[j] += share
            left[j] = PL[i, j] + _hand_down(L[i, j], L[i], left, l[j], zeros, Pl[j], unused, first, N)
            split[j] = PS[i, j] + _hand_down(
                S[i, j], of_inward, inward, l[j], pairs[to_left + own :], Pl[j], of_pairs[to_left + own :], first, N
            )
            outward[j] = _share(right[j], r[i, j] - R[i, j])
            outward[j] += _hand_down(r[i, j], R[i], right, R[j], zeros, PR[j], unused, first, N)
            outward[j] += _hand_down(r[i, j], of_outward, outward, S[j], pairs[own:], PS[j], of_pairs[own:], first, N)
            inward[j] = Pl[i, j] + _share(left[j], l[i, j] - L[i, j])
            marginal[i, j], marginal[j, i] = outward[j], inward[j]
            of_outward[j], of_inward[j] = r[i, j] - s[i, j], l[i, j] - s[j, i]
            of_pairs[none] = _share(outward[j], L[i + _ONE, j] + pairs[none] - of_outward[j])
            PL[i + _ONE, j] += of_pairs[none]
            if back == n - at - 1:
                of_pairs[to_left + none] = _share(inward[j], pairs[to_left + none] - of_inward[j])
        for x in range(i + _ONE, N):
            PL[i + _ONE, x] += _share(split[x], L[i + _ONE, x] - S[i, x])


@inner
def _share(probability, gap):
    """The probability times exp(gap); 0 if the probability is 0, whatever the gap."""
    return probability * math.exp(gap) if probability > _NO_PROBABILITY and gap > _NO_SHARE else 0.0


@inner
def _hand_down(cell, wholes, probabilities, others, pairs, probabilities_of_others, of_pairs, first, N):
    """Pass the probabilities of cells x >= first to their parts: one cell, shared by all, others[x], and their pair.

    Returns the probability that the shared cell gets.
    """
    total = 0.0
    for x in range(first, N):
        share = 0.0
        if probabilities[x] > _NO_PROBABILITY:
            share = _share(probabilities[x], cell + others[x] + pairs[x - first] - wholes[x])
            total += share
            probabilities_of_others[x] += share
        of_pairs[x - first] = share
    return total
