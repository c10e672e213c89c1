"""Sum-product over one sentence's projective trees in logarithms: slower than `kernels.tree_sums`, for scores of any range.

With (+) the logarithm of the sum of exponentials, and the names of `kernels.tree`:

    S[i, j] = (+)_k R[i, k] + L[k+1, j]            r[i, j] = S[i, j] + s[i, j]        l[i, j] = S[i, j] + s[j, i]
    R[i, j] = (+)_m r[i, m] + R[m, j]              L[i, j] = (+)_m L[i, m] + l[m, j]

Downwards, a cell hands its probability on to its parts: to those of R[i, j] by way of m, for one, the share
exp(r[i, m] + R[m, j] - R[i, j]), which is at most 1. So no difference of two infinities is ever taken, and nothing can
overflow; what underflows has a probability of 0.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import kernel


@kernel
def log_marginals(n, single_root, charts, marginal):
    """Set marginal float[n + 1, n + 1] and return log Z of one sentence; -inf and all 0 where no tree is allowed.

    charts float64[9, n + 2, n + 2] has the scores s[h, m] in charts[0], -inf where an arc is excluded and in column 0.
    """
    marginal[:] = 0
    s, R, L, r, l = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741 - the recurrence's name
    S = charts[5]
    for i in range(n, 0 if single_root else -1, -1):
        R[i, i] = 0.0
        L[i, i] = 0.0
        for j in range(i + 1, n + 1):
            S[i, j] = _log_sum(R[i, i:j], L[i + 1 : j + 1, j])
            r[i, j] = S[i, j] + s[i, j]
            l[i, j] = S[i, j] + s[j, i]
            R[i, j] = _log_sum(r[i, i + 1 : j + 1], R[i + 1 : j + 1, j])
            L[i, j] = _log_sum(L[i, i:j], l[i:j, j])
    if single_root:
        for m in range(1, n + 1):
            S[0, m] = L[1, m] + s[0, m]
        total = _log_sum(S[0, 1 : n + 1], R[1 : n + 1, n])
    else:
        total = R[0, n]
    if total > -np.inf:
        _hand_down(n, single_root, total, charts, marginal)
    return total


@kernel
def _log_sum(left, right):
    """The logarithm of sum exp(left[k] + right[k]); -inf of nothing."""
    top = -np.inf
    for k in range(left.shape[0]):
        top = max(top, left[k] + right[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(left.shape[0]):
        total += math.exp(left[k] + right[k] - top)
    return top + math.log(total)


@kernel
def _hand_down(n, single_root, total, charts, marginal):
    """The probabilities of all cells, from those that they are parts of. PR, PL = charts[6:8], those of r, l in marginal."""
    R, L, r, l, S = charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    PR, PL = charts[6], charts[7]
    PR[:] = 0.0
    PL[:] = 0.0
    if single_root:
        _share(1.0, total, S[0, 1 : n + 1], R[1 : n + 1, n], marginal[0, 1 : n + 1], PR[1 : n + 1, n])
        for m in range(1, n + 1):
            PL[1, m] += marginal[0, m]
    else:
        PR[0, n] = 1.0
    for i in range(1 if single_root else 0, n):
        for j in range(n, i, -1):
            _share(
                PR[i, j],
                R[i, j],
                r[i, i + 1 : j + 1],
                R[i + 1 : j + 1, j],
                marginal[i, i + 1 : j + 1],
                PR[i + 1 : j + 1, j],
            )
            _share(PL[i, j], L[i, j], L[i, i:j], l[i:j, j], PL[i, i:j], marginal[j, i:j])
            arc = marginal[i, j] + marginal[j, i]
            _share(arc, S[i, j], R[i, i:j], L[i + 1 : j + 1, j], PR[i, i:j], PL[i + 1 : j + 1, j])


@kernel
def _share(probability, cell, left, right, of_left, of_right):
    """Hand the probability of a cell on to the pairs of parts that it sums over."""
    if probability > 0:
        for k in range(left.shape[0]):
            share = probability * math.exp(left[k] + right[k] - cell)
            of_left[k] += share
            of_right[k] += share
