"""Distributions made from others: chains whose labels are drawn, labels of spans, answers of sources.

Drawn labels. A posterior gives each group g of labels at its position t a share. With potentials E, T, start and end as
in `kernels.chain`, and a group drawn at every posterior, from right to left, among those that can precede the label
behind it (all of them, where the coding forbids nothing), the expected logarithm of the sum over what was not drawn is

    at a posterior     log A[t, j] = log E[t, j] + sum_g share[g] log sum_i u[t-1, g, i] T[i, j]
                       u[t, h, j] = A[t, j] if j is in the group h, else 0
    elsewhere          u[t, g, j] = E[t, j] sum_i u[t-1, g, i] T[i, j]
    at the end         sum_g share[g] log sum_i u[L-1, g, i] end[i]

where share is that of the last posterior; before the first one there is one group, of the share 1. With one label in
each group this is the mean of log Z over independent draws, exactly. Of a larger group, a label is chosen that is best
for the mean of the groups before it, not for each, so that it is a lower bound. The gradient follows the same sums from
the end to the front.

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
def follow_draws(scores, ptr, T, start, end, of_token, group, share, weights, difference, counts, totals):
    """Subtract expected labels under drawn groups; set totals float64[B] to the mean of log Z, -inf if impossible.

    scores float64[n, Y] are of all tokens, -inf for excluded labels; ptr int64[B + 1] the first token of each sentence;
    T, start, end potentials; of_token int32[n] the posterior of each token or -1; group int32[P, Y] the group of each
    label (-1: none); share float64[P, G] their probabilities, 0 beyond the last group. What is subtracted from
    difference float64[n, Y], and the transitions added to counts float64[Y, Y], are multiplied by weights float64[B].
    """
    longest, groups, Y = 1, share.shape[1], scores.shape[1]
    for b in range(totals.shape[0]):
        longest = max(longest, ptr[b + 1] - ptr[b])
    u, top, last = np.empty((longest, groups, Y)), np.empty((longest, groups)), np.empty(longest, np.int64)
    product, state, before = np.empty((groups, Y)), np.empty((groups, Y)), np.empty((groups, Y))
    for b in range(totals.shape[0]):
        first, length = ptr[b], ptr[b + 1] - ptr[b]
        totals[b] = 0.0
        for t in range(length):
            _multiply(u, last, t, T, start, product)
            number = of_token[first + t]
            if number >= 0:
                _draw(u, top, last, t, scores[first + t], product, group[number], share)
            else:
                _extend(u, top, last, t, scores[first + t], product)
            last[t] = number if number >= 0 or t == 0 else last[t - 1]
        if length:
            totals[b] = _begin_at_end(u[length - 1], top[length - 1], share, last[length - 1], end, state)
        if totals[b] == -np.inf:
            continue
        for t in range(length - 1, -1, -1):
            for g in range(_count(share, last[t])):
                for j in range(Y):
                    difference[first + t, j] -= weights[b] * state[g, j]
            if t:
                _multiply(u, last, t, T, start, product)
                is_drawn = of_token[first + t] >= 0
                _step_back(
                    u[t - 1], last[t - 1], last[t], T, product, share, is_drawn, state, before, weights[b], counts
                )
                state, before = before, state


@inner
def _count(share, number):
    """Return the groups of a posterior; 1 before the first one."""
    return share.shape[1] if number >= 0 else 1


@inner
def _share(share, number, g):
    return share[number, g] if number >= 0 else 1.0


@inner
def _multiply(u, last, t, T, start, product):
    """product[g, j] = sum_i u[t-1, g, i] T[i, j]; of the first token, the potential of first labels."""
    product[:] = 0
    if t == 0:
        product[0] = start
        return
    for g in range(u.shape[1] if last[t - 1] >= 0 else 1):
        for i in range(T.shape[0]):
            value = u[t - 1, g, i]
            if value > 0:
                for j in range(T.shape[0]):
                    product[g, j] += value * T[i, j]


@inner
def _draw(u, top, last, t, scores, product, group, share):
    """Fill row t of u, of a posterior; each group is divided by exp(top)."""
    before = last[t - 1] if t else -1
    for h in range(u.shape[1]):
        top[t, h] = -np.inf
    for j in range(scores.shape[0]):
        value = possible = 0.0
        for g in range(_count(share, before) if group[j] >= 0 and scores[j] > -np.inf else 0):
            if product[g, j] > 0 and _share(share, before, g) > 0:
                possible += _share(share, before, g)
                value += _share(share, before, g) * ((top[t - 1, g] if t else 0.0) + math.log(product[g, j]))
        u[t, 0, j] = scores[j] + value / possible if possible > 0 else -np.inf
        if possible > 0:
            top[t, group[j]] = max(top[t, group[j]], u[t, 0, j])
    for j in range(scores.shape[0]):
        value = u[t, 0, j]
        for h in range(u.shape[1]):
            u[t, h, j] = 0.0
        if value > -np.inf:
            u[t, group[j], j] = math.exp(value - top[t, group[j]])


@inner
def _extend(u, top, last, t, scores, product):
    """Fill row t of u, of a token without a posterior; each group is divided by exp(top)."""
    best = -np.inf
    for j in range(scores.shape[0]):
        best = max(best, scores[j])
    for g in range(u.shape[1] if t and last[t - 1] >= 0 else 1):
        largest = 0.0
        for j in range(scores.shape[0]):
            u[t, g, j] = product[g, j] * math.exp(scores[j] - best)
            largest = max(largest, u[t, g, j])
        top[t, g] = (top[t - 1, g] if t else 0.0) + best
        if largest > 0:
            top[t, g] += math.log(largest)
            for j in range(scores.shape[0]):
                u[t, g, j] /= largest


@inner
def _begin_at_end(u, top, share, number, end, state):
    """Set the probabilities of groups and last labels; return the expected logarithm."""
    total = possible = 0.0
    for g in range(_count(share, number)):
        mass = 0.0
        for i in range(end.shape[0]):
            state[g, i] = u[g, i] * end[i]
            mass += state[g, i]
        probability = _share(share, number, g) if mass > 0 else 0.0
        possible += probability
        total += probability * (top[g] + math.log(mass)) if probability > 0 else 0.0
        for i in range(end.shape[0]):
            state[g, i] *= probability / mass if mass > 0 else 0.0
    for g in range(_count(share, number)):
        for i in range(end.shape[0]):
            state[g, i] /= possible if possible > 0 else 1.0
    return total / possible if possible > 0 else -np.inf


@inner
def _step_back(u, number, behind, T, product, share, is_drawn, state, before, weight, counts):
    """before = the probabilities of groups and labels one token further to the front; counts the transitions."""
    before[:] = 0
    for j in range(T.shape[0]):
        drawn = possible = 0.0
        if is_drawn:
            for h in range(_count(share, behind)):
                drawn += state[h, j]
            for g in range(_count(share, number)):
                possible += _share(share, number, g) if product[g, j] > 0 else 0.0
        for g in range(_count(share, number)):
            mass = drawn * _share(share, number, g) / possible if is_drawn and possible > 0 else 0.0
            mass = mass if is_drawn else state[g, j]
            if mass > 0 and product[g, j] > 0:
                for i in range(T.shape[0]):
                    value = mass * u[g, i] * T[i, j] / product[g, j]
                    before[g, i] += value
                    counts[i, j] += weight * value


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
