"""Distributions made from others: nearest chains with given marginals, labels of spans, answers of sources.

Fitted marginals. With potentials E, T, start and end as in `kernels.chain`, that is, among all q with these marginals,
the one of smallest KL(q || p). It multiplies the potentials of each group g of labels at position t by a factor f,

    q(y)  proportional to  p(y) prod_t f[t, g(y_t)]         f[t, g] <- f[t, g] share[t, g] / sum_{y in g} gamma[t, y]

(iterative proportional fitting: Csiszar 1975). One sweep goes from left to right. At each position, alpha already has
the new factors of the positions before, and beta the last sweep's factors of the positions behind, so gamma is exact:

    pred[t, j] = sum_i alpha[t-1, i] T[i, j]                gamma[t, j] = pred[t, j] E[t, j] beta[t, j]

After the last sweep only the last position has its marginals exactly; the others come nearer with every sweep. Where
the coding of labels leaves a group impossible, its factor stays, and the others share the rest.

Spans. A chain's posterior is a chain, so the probability that the labels of tokens a .. b lie in the sets A_a .. A_b is

    v[a, j] = [j in A_a] gamma[a, j]           v[t, j] = [j in A_t] sum_i v[t-1, i] xi[t, i, j] / gamma[t-1, i]
    P = sum_j v[b, j]

Answers of sources. An answer is a row (position t, source k, label l, share w), as in `sources.answers`. Tables are [K,
C, Y, Y]: source, context, answer, true label; an answer adds, or receives, a run of Y numbers. The context is the
answer of the same source at the position before, one of C labels: with shares w' of several, each counts w'. C = 1
ignores it; a source without an answer there is in the context `initial`.
"""

from __future__ import annotations

import math

import numpy as np

from tagweave.kernels import inlined, inner, kernel

_U = np.uintp


@kernel
def fit(E, shift, rows, ptr, T, start, end, allow, of_set, group, share, sweeps, gain):
    """Multiply potentials E float[n, Y] by the factors of `sweeps` sweeps, in place; rows are scaled to a maximum of 1.

    rows int32[n] is the row of E of every token, shift float[n] the logarithm of the divisor of each row, ptr
    int64[B + 1] the first token of each sentence. allow int32[n] is the set of each token, of_set int32[sets] its
    posterior or -1, group int32[P, Y] the group of each label (-1: none), share float64[P, G] their probabilities.
    gain float64[B] becomes sum_t sum_g share log f.
    """
    Y, longest = E.shape[1], 0
    for b in range(ptr.shape[0] - 1):
        longest = max(longest, ptr[b + 1] - ptr[b])
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
                for j in range(Y):
                    pred[j] = start[j] if t == 0 else 0.0
                for i in range(Y if t > 0 else 0):
                    if alpha[i] > 0:
                        for j in range(Y):
                            pred[j] += alpha[i] * T[i, j]
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


BEFORE, BEGIN, INSIDE, END, SINGLE, AFTER = range(6)
"""The positions of a token in or beside a word, the rows of `sets`."""


@kernel
def span_entropies(gamma, pairs, starts, stops, entropies):
    """Set the entropies, in nats, of the labels of tokens starts[k] .. stops[k] - 1 (tsuboi-2008, 5.1, less its sign).

    gamma float[n, Y] are state marginals, pairs float[n, Y, Y] pair marginals into each position. A chain's posterior
    is a chain:

        H(y_1 .. y_n) = - sum_j gamma[0, j] log gamma[0, j] - sum_t sum_ij xi[t, i, j] log (xi[t, i, j] / gamma[t-1, i])
    """
    for k in range(starts.shape[0]):
        total = 0.0
        for j in range(gamma.shape[1]):
            if gamma[starts[k], j] > 0:
                total -= gamma[starts[k], j] * np.log(gamma[starts[k], j])
        for t in range(starts[k] + 1, stops[k]):
            for i in range(gamma.shape[1]):
                for j in range(gamma.shape[1]):
                    if pairs[t, i, j] > 0 and gamma[t - 1, i] > 0:
                        total -= pairs[t, i, j] * np.log(pairs[t, i, j] / gamma[t - 1, i])
        entropies[k] = total


@kernel
def word_probabilities(gamma, pairs, sets, starts, stops, lows, highs, probabilities):
    """probabilities[k] = P(tokens starts[k] .. stops[k] - 1 are a word).

    sets bool[6, Y] are the labels of a token in each position; lows, highs int64[K] the bounds of the span's sentence.
    """
    Y = gamma.shape[1]
    v, reached = np.empty(Y), np.empty(Y)
    for k in range(starts.shape[0]):
        start, stop = starts[k], stops[k]
        first, last = max(start - 1, lows[k]), min(stop + 1, highs[k])
        for t in range(first, last):
            if t < start:
                allowed = sets[BEFORE]
            elif t >= stop:
                allowed = sets[AFTER]
            elif stop - start == 1:
                allowed = sets[SINGLE]
            elif t == start:
                allowed = sets[BEGIN]
            elif t == stop - 1:
                allowed = sets[END]
            else:
                allowed = sets[INSIDE]
            for j in range(Y):
                reached[j] = 0.0
                if not allowed[j]:
                    continue
                if t == first:
                    reached[j] = gamma[t, j]
                    continue
                for i in range(Y):
                    if v[i] > 0 and gamma[t - 1, i] > 0:
                        reached[j] += v[i] * pairs[t, i, j] / gamma[t - 1, i]
            v[:] = reached
        probabilities[k] = min(v.sum(), 1.0)


@kernel
def link_previous(sentence_ptr, position, source, previous):
    """Set previous int64[A] to the first row of the same source at the position before, -1 if it said nothing there.

    Positions are rising, sources are rising within a position; the first position of a sentence has none before it.
    """
    A = position.shape[0]
    sentence, start, last_start, last_stop = 0, 0, 0, 0
    while start < A:
        t = position[start]
        stop = start
        while stop < A and position[stop] == t:
            stop += 1
        while sentence_ptr[sentence + 1] <= t:
            sentence += 1
        q = last_start
        follows = last_stop > last_start and position[last_start] == t - 1 and t > sentence_ptr[sentence]
        for a in range(start, stop):
            previous[a] = -1
            if follows:
                while q < last_stop and source[q] < source[a]:
                    q += 1
                first = q
                while first > last_start and source[first - 1] == source[a]:
                    first -= 1
                if first < last_stop and source[first] == source[a]:
                    previous[a] = first
        last_start, last_stop, start = start, stop, stop


@inlined
def _add(rows, t, w, table, k, context, l, backwards):  # noqa: E741
    if backwards:
        for y in range(_U(rows.shape[1])):
            table[k, context, l, y] += w * rows[t, y]
    else:
        for y in range(_U(rows.shape[1])):
            rows[t, y] += w * table[k, context, l, y]


@kernel
def over_answers(position, source, label, share, previous, initial, rows, first, last, table, backwards):
    """rows[t, y] += w table[k, context, l, y] for the rows first .. last - 1 of answers; share may be empty (all 1).

    Backwards, the table receives: table[k, context, l, y] += w rows[t, y].
    """
    has_context, has_shares = table.shape[1] > 1, share.shape[0] > 0
    alone = _U(initial if has_context else 0)
    for a in range(_U(first), _U(last)):
        t, k, l = _U(position[a]), _U(source[a]), _U(label[a])  # noqa: E741
        w = rows.dtype.type(share[a]) if has_shares else rows.dtype.type(1)
        if not has_context or previous[a] < 0:
            _add(rows, t, w, table, k, alone, l, backwards)
        else:
            q = _U(previous[a])
            before = position[q]
            while position[q] == before and _U(source[q]) == k:
                part = w * rows.dtype.type(share[q]) if has_shares else w
                _add(rows, t, part, table, k, _U(label[q]), l, backwards)
                q += _U(1)
