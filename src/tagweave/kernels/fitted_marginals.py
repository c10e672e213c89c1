"""The distribution over label sequences that is nearest to a chain's and has given marginals at some positions.

With potentials E, T, start and end as in `kernels/chain.py`, that is, among all q with these marginals, the one of
smallest KL(q || p). It multiplies the potentials of each group g of labels at position t by a factor f,

    q(y)  proportional to  p(y) prod_t f[t, g(y_t)]         f[t, g] <- f[t, g] share[t, g] / sum_{y in g} gamma[t, y]

(iterative proportional fitting: Csiszar 1975). One sweep goes from left to right. At each position, alpha already has
the new factors of the positions before, and beta those of the last sweep for the positions behind, so gamma is exact:

    pred[t, j] = sum_i alpha[t-1, i] T[i, j]                gamma[t, j] = pred[t, j] E[t, j] beta[t, j]

After the last sweep only the last position has its marginals exactly; the others come nearer with every sweep. Where
the coding of labels leaves a group impossible, its factor stays, and the others share the rest.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inner, kernel

_U = np.uintp


@kernel
def fit(E, shift, rows, ptr, T, start, end, allow, of_set, group, share, sweeps, gain):
    """Multiply potentials E float[n, Y] by the factors of `sweeps` sweeps, in place; rows are scaled to a maximum of 1.

    rows int32[n] is the row of E of every token, shift float[n] the logarithm of what each row has been divided by, ptr
    int64[B + 1] the first token of each sentence. allow int32[n] is the set of each token, of_set int32[sets] its
    posterior or -1, group int32[P, Y] the group of each label (-1: none), share float64[P, G] their probabilities.
    gain float64[B] becomes sum_t sum_g share log f.
    """
    longest = 0
    for b in range(ptr.shape[0] - 1):
        longest = max(longest, ptr[b + 1] - ptr[b])
    Y = E.shape[1]
    own, beta = np.empty((longest, Y)), np.empty((longest, Y))
    alpha, pred, mass, factor = np.empty(Y), np.empty(Y), np.empty(share.shape[1]), np.empty(share.shape[1])
    for b in range(ptr.shape[0] - 1):
        gain[b] = 0
        first, length = ptr[b], ptr[b + 1] - ptr[b]
        is_fitted = False
        for t in range(length):
            is_fitted = is_fitted or of_set[allow[first + t]] >= 0
        if not is_fitted:
            continue
        for t in range(length):
            for y in range(Y):
                own[t, y] = E[rows[first + t], y]
        for _ in range(sweeps):
            _backward(own, T, end, beta, length)
            for t in range(length):
                _predict(alpha, T, start, t, pred)
                number = of_set[allow[first + t]]
                if number >= 0:
                    gain[b] += _scale(own[t], pred, beta[t], group[number], share[number], mass, factor)
                total = 0.0
                for y in range(Y):
                    alpha[y] = pred[y] * own[t, y]
                    total += alpha[y]
                for y in range(Y):
                    alpha[y] = alpha[y] / total if total > 0 else 0.0
        for t in range(length):
            r, top = rows[first + t], 0.0
            for y in range(Y):
                top = max(top, own[t, y])
            if top > 0:
                for y in range(Y):
                    E[r, y] = own[t, y] / top
                shift[r] += math.log(top)


@inner
def _backward(own, T, end, beta, length):
    """beta[t, i] = sum_j T[i, j] E[t+1, j] beta[t+1, j], each row divided by its maximum."""
    Y = own.shape[1]
    for y in range(Y):
        beta[length - 1, y] = end[y]
    for t in range(length - 2, -1, -1):
        for i in range(Y):
            beta[t, i] = 0
        for j in range(Y):
            behind = own[t + 1, j] * beta[t + 1, j]
            if behind > 0:
                for i in range(Y):
                    beta[t, i] += T[i, j] * behind
        top = 0.0
        for i in range(Y):
            top = max(top, beta[t, i])
        for i in range(Y):
            beta[t, i] = beta[t, i] / top if top > 0 else 0.0


@inner
def _predict(alpha, T, start, t, pred):
    """pred = start at the first position, else alpha of the position before times T."""
    Y = pred.shape[0]
    for j in range(Y):
        pred[j] = start[j] if t == 0 else 0.0
    if t == 0:
        return
    for i in range(Y):
        if alpha[i] > 0:
            for j in range(Y):
                pred[j] += alpha[i] * T[i, j]


@inner
def _scale(own, pred, beta, group, share, mass, factor):
    """Give the groups of a position their shares; returns sum_g share log f."""
    gain = 0.0
    for g in range(share.shape[0]):
        mass[g] = 0
    for y in range(own.shape[0]):
        if group[y] >= 0:
            mass[group[y]] += pred[y] * own[y] * beta[y]
    total = possible = 0.0
    for g in range(share.shape[0]):
        total += mass[g]
        possible += share[g] if mass[g] > 0 else 0.0
    for g in range(share.shape[0]):
        factor[g] = 1.0
        if share[g] > 0 and mass[g] > 0:
            factor[g] = share[g] / possible * total / mass[g]
            gain += share[g] / possible * math.log(factor[g])
    for y in range(own.shape[0]):
        if group[y] >= 0:
            own[y] *= factor[group[y]]
    return gain
