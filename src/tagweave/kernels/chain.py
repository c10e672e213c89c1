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
Where evidence leaves few labels, every row has a list of those with a potential, and sums run over lists.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.kernels import inner, kernel
from tagweave.kernels.instructions import allocate, flat
from tagweave.kernels.products import add_row_products, multiply

Floats = NDArray[Any]

_FEW = 4  # labels below which no tile is full
_TINY = 1e-30
_U = np.uintp
_ONE = np.uintp(1)


class Lists(NamedTuple):
    """The labels that count in each row: labels[ptr[r]] .. labels[ptr[r + 1] - 1].

    Arrays that are float[n, Y] otherwise then have a cell for each entry, float[1, cells]. Without pointers every row
    has all labels.
    """

    ptr: NDArray[np.int64]
    labels: NDArray[np.int32]


ALL = Lists(np.zeros(0, np.int64), np.zeros(0, np.int32))


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
def count_allowed(allow, masks, noise):
    """Return how many labels the evidence allows, in all; see `restrict`."""
    count = 0
    for t in range(_U(allow.shape[0])):
        if noise.shape[0] and noise[t] > 0:
            count += masks.shape[1]
        else:
            for y in range(_U(masks.shape[1])):
                count += np.int64(masks[_U(allow[t]), y] > 0)
    return count


@kernel
def restrict(free, free_shift, scores, rows, allow, masks, noise, restricted, shift):
    """restricted = the potentials of the labels that the evidence allows, 0 for others.

    allow int32[n] is the label set of each token, masks float[sets, Y] 1 for its labels and 0 for others. noise
    float[n] (or empty) is the share of its potential that an excluded label keeps: 0 is certain, 1 no evidence.
    """
    Y = _U(free.shape[1])
    for t in range(_U(rows.shape[0])):
        r, a = _U(rows[t]), _U(allow[t])
        kept = free.dtype.type(noise[t]) if noise.shape[0] else free.dtype.type(0)
        top = free.dtype.type(0)
        for y in range(Y):
            value = free[r, y] * max(masks[a, y], kept)
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


@kernel
def list_restricted(free, free_shift, scores, rows, allow, masks, noise, lists, restricted, shift):
    """As `restrict`, into lists of the labels that the evidence allows."""
    Y, cells = _U(masks.shape[1]), flat(restricted)
    token_of, kept_of = allocate(rows.shape[0], np.int64), allocate(masks.shape[1], masks.dtype)
    for t in range(rows.shape[0]):
        token_of[rows[t]] = t
    filled = _U(0)
    lists.ptr[0] = 0
    for r in range(_U(rows.shape[0])):
        t = _U(token_of[r])
        a, kept = _U(allow[t]), masks.dtype.type(noise[t]) if noise.shape[0] else masks.dtype.type(0)
        first, top = filled, free.dtype.type(0)
        for label in range(Y):
            share = max(masks[a, label], kept)
            if share > 0:
                value = free[r, label] * share
                lists.labels[filled], cells[filled], kept_of[filled - first] = label, value, share
                top = max(top, value)
                filled += _ONE
        lists.ptr[r + _ONE] = filled
        shift[r] = free_shift[r]
        if top < _TINY:
            best = -np.inf
            for q in range(first, filled):
                best = max(best, scores[t, _U(lists.labels[q])] + math.log(kept_of[q - first]))
            for q in range(first, filled):
                cells[q] = math.exp(scores[t, _U(lists.labels[q])] - best + math.log(kept_of[q - first]))
            shift[r] = best


@inner
def _span(lists, r, Y):
    """Return the cells of row r, from and to."""
    if lists.ptr.shape[0]:
        return _U(lists.ptr[r]), _U(lists.ptr[r + _ONE])
    return r * Y, r * Y + Y


@inner
def _label(lists, q, low):
    """Return the label of cell q, in a row whose cells begin at `low`."""
    return _U(lists.labels[q]) if lists.ptr.shape[0] else q - low


@inner
def _multiply_listed(left, right, lists, of, into, product):
    """product[k] = the product of the cells of row `of` with `right`, for the k-th label of row `into`."""
    labels, low = lists.labels, _U(lists.ptr[into])
    count = _U(lists.ptr[into + _ONE]) - low
    for k in range(count):
        product[k] = 0
    q, last = _U(lists.ptr[of]), _U(lists.ptr[of + _ONE])
    while q + _U(4) <= last:
        f, g, h, i = _U(labels[q]), _U(labels[q + _ONE]), _U(labels[q + _U(2)]), _U(labels[q + _U(3)])
        w, x, y, z = left[q], left[q + _ONE], left[q + _U(2)], left[q + _U(3)]
        for k in range(count):
            j = _U(labels[low + k])
            product[k] = product[k] + w * right[f, j] + x * right[g, j] + y * right[h, j] + z * right[i, j]
        q += _U(4)
    while q < last:
        for k in range(count):
            product[k] += left[q] * right[_U(labels[q]), _U(labels[low + k])]
        q += _ONE


@kernel
def forward(E, shift, steps, T, panels, start, end, lists, alpha, scale, log_z):
    """Fill alpha float[n, Y] and scale float[n]; rows of alpha sum to 1.

    log_z float64[B]: log Z of each sentence of the batch; -inf where no sequence is allowed, or where the allowed ones
    have so small a share of the sum that the share lost to underflow might be larger.
    """
    Y, e, a = _U(start.shape[0]), flat(E), flat(alpha)
    product, sums = allocate(log_z.shape[0], np.float64), allocate(start.shape[0], E.dtype)
    for b in range(_U(log_z.shape[0])):
        product[b] = 1
        log_z[b] = 0
    for t in range(steps.shape[0] - 1):
        first, last = steps[t], steps[t + 1]
        before = steps[t - 1] if t else first
        if t and not lists.ptr.shape[0]:
            multiply(alpha[before : before + last - first], panels, alpha[first:last])
        going_on = steps[t + 2] - last if t + 2 < steps.shape[0] else 0
        for b in range(_U(last - first)):
            r = _U(first) + b
            low, high = _span(lists, r, Y)
            if t == 0:
                for q in range(low, high):
                    a[q] = start[_label(lists, q, low)]
            elif lists.ptr.shape[0]:
                _multiply_listed(a, T, lists, _U(before) + b, r, sums)
                for q in range(low, high):
                    a[q] = sums[q - low]
            total = alpha.dtype.type(0)
            for q in range(low, high):
                value = a[q] * e[q]
                a[q] = value
                total += value
            factor = alpha.dtype.type(1) / total if total > _TINY else alpha.dtype.type(0)
            for q in range(low, high):
                a[q] *= factor
            scale[r] = factor
            log_z[b] += shift[r]
            mass = np.float64(total)
            if b >= _U(going_on):
                mass *= _final(a, end, lists, low, high)
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
def _final(alpha, end, lists, low, high):
    """sum_j alpha[r, j] end[j], of the row in cells low .. high - 1."""
    total = alpha.dtype.type(0)
    for q in range(low, high):
        total += alpha[q] * end[_label(lists, q, low)]
    return total


@kernel
def backward(E, steps, transposed, panels, end, lists, alpha, scale, gamma, beyond):
    """Fill gamma, and beyond[r, j] = E[r, j] beta[r, j] / Z: xi[r, i, j] = alpha[s, i] T[i, j] beyond[r, j], with s the
    row before r.

    transposed float[Y, Y] is T with rows and columns exchanged; lists need it, and all labels need its panels.
    """
    Y, n = _U(end.shape[0]), steps.shape[0] - 1
    e, a, g, x = flat(E), flat(alpha), flat(gamma), flat(beyond)
    least = E.dtype.type(1e-37 if E.itemsize == 4 else 1e-300)
    beta = np.empty((steps[1] - steps[0] if n else 0, end.shape[0]), E.dtype)
    for t in range(n - 1, -1, -1):
        first, last = steps[t], steps[t + 1]
        going_on = steps[t + 2] - last if t + 1 < n else 0
        if going_on and not lists.ptr.shape[0]:
            multiply(beyond[last : last + going_on], panels, beta[:going_on])
        for b in range(_U(last - first)):
            r = _U(first) + b
            low, high = _span(lists, r, Y)
            if b >= _U(going_on):
                final = _final(a, end, lists, low, high)
                inverse = E.dtype.type(1) / final if final > least else E.dtype.type(0)
                for q in range(low, high):
                    beta[b, q - low] = end[_label(lists, q, low)] * inverse
            elif lists.ptr.shape[0]:
                _multiply_listed(x, transposed, lists, _U(last) + b, r, beta[b])
            factor = scale[r]
            for q in range(low, high):
                # beta of a label that no sequence reaches is unbounded: it may be inf, and inf * 0 is nan
                value = beta[b, q - low] if a[q] > least else E.dtype.type(0)
                g[q] = a[q] * value
                x[q] = e[q] * value * factor


@kernel
def weigh(values, steps, lists, weights):
    """Multiply the rows of every sentence by its weight."""
    cells, Y = flat(values), _U(values.shape[1])
    for t in range(steps.shape[0] - 1):
        for r in range(steps[t], steps[t + 1]):
            w = values.dtype.type(weights[r - steps[t]])
            low, high = _span(lists, _U(r), Y)
            for q in range(low, high):
                cells[q] *= w


@kernel
def _add_row_pairs(alpha, beyond, steps, sign, lists, pairs):
    """`add_pairs`, row by row."""
    Y, a, x = _U(pairs.shape[0]), flat(alpha), flat(beyond)
    for t in range(1, steps.shape[0] - 1):
        back = _U(steps[t] - steps[t - 1])
        for r in range(_U(steps[t]), _U(steps[t + 1])):
            low, high = _span(lists, r, Y)
            first, last = _span(lists, r - back, Y)
            for p in range(first, last):
                value = pairs.dtype.type(sign) * a[p]
                if value != 0:
                    i = _label(lists, p, first)
                    for q in range(low, high):
                        pairs[i, _label(lists, q, low)] += value * x[q]


def add_pairs(alpha: Floats, beyond: Floats, steps: NDArray[np.int64], sign: int, lists: Lists, pairs: Floats) -> None:
    """pairs += sign * sum over rows of alpha[the row before r] (x) beyond[r]; times T it is the sum of xi."""
    if len(lists.ptr) or len(pairs) < _FEW:
        _add_row_pairs(alpha, beyond, steps, sign, lists, pairs)
    else:
        add_row_products(alpha, beyond, steps, sign, pairs)


@kernel
def add_rows(gamma, rows, lists, sign, difference):
    """difference[t] += sign * gamma[rows[t]], for a sign of 1 or -1."""
    factor, Y, cells = difference.dtype.type(sign), _U(difference.shape[1]), flat(gamma)
    for t in range(_U(rows.shape[0])):
        low, high = _span(lists, _U(rows[t]), Y)
        for q in range(low, high):
            difference[t, _label(lists, q, low)] += factor * cells[q]


@kernel
def follow_paths(scores, labels, ptr, transition, start, end, weights, difference, counts, totals):
    """Add the restricted sums of sentences that allow one label everywhere: their only sequence has probability 1.

    labels int32[n] are these labels, ptr int64[B + 1] the first token of each sentence. Subtracts 1 from
    difference[t, label], adds the transitions of the path to counts float[Y, Y], both times the weight of the sentence,
    and sets totals float64[B] to the path scores.
    """
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
        totals[b] = score + end[before] if ptr[b + _ONE] > ptr[b] else 0.0
