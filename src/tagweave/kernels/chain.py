"""Sum-product over chains, under evidence, many sentences in lockstep.

All sums are in scaled probabilities: E[r, y] = exp(score - shift[r]) if label y is allowed, else exactly 0, so -inf
never occurs. With Y labels and the potentials T = exp(transition), start and end:

    alpha[0, j] = start[j] E[0, j]                          alpha[t, j] = E[t, j] sum_i alpha[t-1, i] T[i, j]
    beta[L-1, i] = end[i]                                   beta[t, i] = sum_j T[i, j] E[t+1, j] beta[t+1, j]
    Z = sum_j alpha[L-1, j] end[j]
    gamma[t, j] = alpha[t, j] beta[t, j] / Z                xi[t, i, j] = alpha[t-1, i] T[i, j] E[t, j] beta[t, j] / Z

(tsuboi-2008, appendix A). The evidence is in E alone: the same recurrence gives Z of all label sequences and Z of those
that the annotation allows. Each alpha row is divided by its sum; log Z is the sum of the logs of these sums.

Lockstep: the sentences of a batch are sorted by falling length, and row steps[t] + b belongs to position t of sentence
b. Those that reach step t are the first steps[t+1] - steps[t], so one step of all of them is one matrix product.
Sums go through BLAS where a block is large and full, and through loops that skip zeros where it is small or sparse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inner, kernel

Floats = NDArray[Any]

_BLAS_WORK = 600  # multiplications above which a BLAS call costs less than the loop (measured at 4, 42 and 400 labels)
_TINY = 1e-30
_U = np.uintp
_ONE = np.uintp(1)


@kernel
def pack(lengths, order, ptr, rows, steps):
    """Lay sentences out in lockstep.

    lengths int64[B] falling, order int64[B] the indices of these sentences in the batch, ptr int64 the first token of
    each sentence of the batch.
    Sets rows int32[n] (the row of every token) and steps int64[max length + 1].
    """
    steps[0] = 0
    reached = lengths.shape[0]
    for t in range(steps.shape[0] - 1):
        while reached > 0 and lengths[reached - 1] <= t:
            reached -= 1
        steps[t + 1] = steps[t] + reached
        for b in range(reached):
            rows[ptr[order[b]] + t] = steps[t] + b


@kernel
def shift_scores(scores, rows, shifted, shift):
    """shifted[rows[t], y] = scores[t, y] - shift[rows[t]], shift the largest score of the row; the caller takes exp."""
    Y = _U(scores.shape[1])
    for t in range(_U(scores.shape[0])):
        r = _U(rows[t])
        top = scores[t, _U(0)]
        for y in range(_ONE, Y):
            top = max(top, scores[t, y])
        for y in range(Y):
            shifted[r, y] = scores[t, y] - top
        shift[r] = top


@kernel
def restrict(free, free_shift, scores, rows, allow, masks, noise, restricted, shift):
    """restricted = the potentials of the labels that the evidence allows, 0 for others. Returns how many it allows.

    allow int32[n] is the label set of each token, masks float[sets, Y] 1 for its labels and 0 for others. noise
    float[n] (or empty) is the share of its potential that an excluded label keeps: 0 is certain, 1 no evidence.
    """
    Y = _U(free.shape[1])
    allowed = free.dtype.type(0)
    for t in range(_U(rows.shape[0])):
        r, a = _U(rows[t]), _U(allow[t])
        kept = free.dtype.type(noise[t]) if noise.shape[0] else free.dtype.type(0)
        top = free.dtype.type(0)
        for y in range(Y):
            share = max(masks[a, y], kept)
            allowed += share
            value = free[r, y] * share
            restricted[r, y] = value
            top = max(top, value)
        shift[r] = free_shift[r]
        if top < _TINY:  # the best label is out of range of all allowed ones: scale to the best allowed one
            best = -np.inf
            for y in range(Y):
                if max(masks[a, y], kept) > 0:
                    best = max(best, scores[t, y] + math.log(max(masks[a, y], kept)))
            for y in range(Y):
                share = max(masks[a, y], kept)  # of an excluded label, exp(score - best) may be inf, and inf * 0 nan
                restricted[r, y] = math.exp(scores[t, y] - best + math.log(share)) if share > 0 else 0
            shift[r] = best
    return allowed


@kernel
def multiply(left, right, out, dense):
    """out = left @ right for float[B, Y], float[Y, Y]."""
    B, Y = left.shape
    if dense and B * Y * Y > _BLAS_WORK:
        np.dot(left, right, out)
        return
    for b in range(_U(B)):
        for j in range(_U(Y)):
            out[b, j] = 0
        for i in range(_U(Y)):
            a = left[b, i]
            if a != 0:
                for j in range(_U(Y)):
                    out[b, j] += a * right[i, j]


@kernel
def forward(E, shift, steps, T, start, end, dense, alpha, before, scale, log_z):
    """Fill alpha float[n, Y] and scale float[n] (alpha rows sum to 1), before[r] = alpha of the position before r.

    log_z float64[B]: log Z of each sentence of the batch; -inf where no sequence is allowed, or where the allowed ones
    have so small a share of the sum that the share lost to underflow might be larger.
    """
    Y = _U(E.shape[1])
    product = np.empty(log_z.shape[0])
    for b in range(_U(log_z.shape[0])):
        product[b] = 1
        log_z[b] = 0
    for t in range(steps.shape[0] - 1):
        low, high = steps[t], steps[t + 1]
        if t == 0:
            for r in range(_U(high)):
                for j in range(Y):
                    alpha[r, j] = start[j]
        else:
            previous = _U(steps[t - 1] - low)
            for r in range(_U(low), _U(high)):
                for j in range(Y):
                    before[r, j] = alpha[r + previous, j]
            multiply(before[low:high], T, alpha[low:high], dense)
        going_on = steps[t + 2] - high if t + 2 < steps.shape[0] else 0
        for b in range(_U(high - low)):
            r = _U(low) + b
            total = alpha.dtype.type(0)
            for j in range(Y):
                value = alpha[r, j] * E[r, j]
                alpha[r, j] = value
                total += value
            factor = alpha.dtype.type(1) / total if total > _TINY else alpha.dtype.type(0)
            for j in range(Y):
                alpha[r, j] *= factor
            scale[r] = factor
            log_z[b] += shift[r]
            mass = np.float64(total)
            if b >= _U(going_on):
                mass *= _final(alpha, end, r)
            # one logarithm of a product of sums instead of many
            if mass > _TINY:
                product[b] *= mass
            else:
                log_z[b] = -np.inf
            if not (1e-90 < product[b] < 1e90):
                log_z[b] += math.log(product[b])
                product[b] = 1.0
    for b in range(_U(log_z.shape[0])):
        log_z[b] += math.log(product[b])


@inner
def _final(alpha, end, r):
    """sum_j alpha[r, j] end[j]."""
    last = alpha.dtype.type(0)
    for j in range(_U(end.shape[0])):
        last += alpha[r, j] * end[j]
    return last


@kernel
def backward(E, steps, transposed, end, dense, alpha, scale, beyond):
    """Turn alpha into gamma in place; beyond[r, j] = E[r, j] beta[r, j] / Z, so that xi = before[r] (x) beyond[r] * T.

    transposed float[Y, Y] is T with rows and columns exchanged, row-major.
    """
    Y = _U(E.shape[1])
    n = steps.shape[0] - 1
    least = E.dtype.type(1e-37 if E.itemsize == 4 else 1e-300)
    beta = np.empty((steps[1] - steps[0] if n else 0, E.shape[1]), E.dtype)
    for t in range(n - 1, -1, -1):
        low, high = steps[t], steps[t + 1]
        going_on = 0
        if t + 1 < n:
            going_on = steps[t + 2] - high
            multiply(beyond[high : high + going_on], transposed, beta[:going_on], dense)
        for b in range(_U(going_on), _U(high - low)):
            last = _final(alpha, end, _U(low) + b)
            inverse = E.dtype.type(1) / last if last > least else E.dtype.type(0)
            for j in range(Y):
                beta[b, j] = end[j] * inverse
        for b in range(_U(high - low)):
            r = _U(low) + b
            factor = scale[r]
            for j in range(Y):
                # beta of a label that no sequence reaches is unbounded: it may be inf, and inf * 0 is nan
                value = beta[b, j] if alpha[r, j] > least else E.dtype.type(0)
                alpha[r, j] *= value
                beyond[r, j] = E[r, j] * value * factor


@kernel
def weigh(values, steps, weights):
    """Multiply the rows of every sentence by its weight."""
    for t in range(steps.shape[0] - 1):
        for r in range(steps[t], steps[t + 1]):
            w = values.dtype.type(weights[r - steps[t]])
            for j in range(values.shape[1]):
                values[r, j] *= w


@kernel
def _add_sparse_pairs(before, beyond, first, sign, pairs):
    """`add_pairs`, skipping zeros."""
    Y = pairs.shape[0]
    for r in range(_U(first), _U(before.shape[0])):
        for i in range(_U(Y)):
            a = pairs.dtype.type(sign) * before[r, i]
            if a != 0:
                for j in range(_U(Y)):
                    pairs[i, j] += a * beyond[r, j]


def add_pairs(before: Floats, beyond: Floats, first: int, sign: int, dense: bool, pairs: Floats) -> None:
    """pairs += sign * sum over rows from `first` of before[r] (x) beyond[r]; times T it is the sum of xi."""
    if dense and pairs.size * (len(before) - first) > _BLAS_WORK:
        product = before[first:].T @ beyond[first:]
        (np.add if sign > 0 else np.subtract)(pairs, product, out=pairs)
    else:
        _add_sparse_pairs(before, beyond, first, sign, pairs)


@kernel
def add_rows(gamma, rows, sign, difference):
    """difference[t] += sign * gamma[rows[t]], for a sign of 1 or -1."""
    factor = difference.dtype.type(sign)
    for t in range(_U(rows.shape[0])):
        r = _U(rows[t])
        for y in range(_U(gamma.shape[1])):
            difference[t, y] += factor * gamma[r, y]


@kernel
def follow_paths(scores, labels, ptr, transition, start, end, weights, difference, counts):
    """The restricted sums of sentences that allow one label everywhere: their only sequence has probability 1.

    labels int32[n] are these labels, ptr int64[B + 1] the first token of each sentence. Subtracts 1 from
    difference[t, label], adds the transitions of the path to counts float[Y, Y], both times the weight of the sentence,
    and returns the weighted sum of the path scores.
    """
    total = 0.0
    for b in range(_U(weights.shape[0])):
        w = weights[b]
        score = 0.0
        before = _U(0)
        for t in range(_U(ptr[b]), _U(ptr[b + _ONE])):
            label = _U(labels[t])
            score += scores[t, label]
            difference[t, label] -= difference.dtype.type(w)
            if t == _U(ptr[b]):
                score += start[label]
            else:
                score += transition[before, label]
                counts[before, label] += counts.dtype.type(w)
            before = label
        if ptr[b + _ONE] > ptr[b]:
            total += w * (score + end[before])
    return total
