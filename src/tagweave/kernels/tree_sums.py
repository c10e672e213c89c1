"""Sum-product over projective dependency trees, under evidence: log Z and the probability of every arc and pair.

The recurrence of `kernels.tree` with sums for maxima and products for sums. With p[h, m] = exp(s[h, m] - shift[h, m]),
and exactly 0 where the evidence excludes an arc, and potentials q of pairs of siblings, 1 if these have no scores:

    S[i, j] = sum_k R[i, k] L[k+1, j]
    r[i, j] = p[i, j] (q(i, i, j) L[i+1, j] + sum_k r[i, k] q(i, k, j) S[k, j])        R[i, j] = sum_m r[i, m] R[m, j]
    l[i, j] = p[j, i] (q(i, i, j) R[i, j-1] + sum_k S[i, k] q(i, k, j) l[k, j])        L[i, j] = sum_m L[i, m] l[m, j]
    Z       = R[0, n],  or with one child of the root  sum_m p[0, m] q(0, 0, m) L[1, m] R[m, n]

The derivative of log Z with respect to each cell comes from running the pushes backwards; times the cell of an arc it
is the arc's probability, and that of a pair is the product of its parts and the derivative of their whole. The evidence
is in p alone: one recurrence gives Z of all trees, and Z of the allowed ones.

Range. The best score of the pairs of an arc is added to the arc's, so that q is at most 1. Every tree has one head for
every word, so a shift of the scores of all its arcs changes Z by a factor, which is added back to log Z: it makes
the best potential of each word 1. With A[m] = sum_h p[h, m], a cell is at most the product of A over its words, and the
sum of its completions to trees at most that over all others. So underflow is harmless unless Z is as small compared
with the product of all A; and there is none if no cell is very small. If neither holds, because strong scores disagree
with every tree, the sentence is summed again with shifts that make Z about 1; and if that does not help, in logarithms
(`kernels.tree_logarithms`).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.siblings import block, most_pairs, row, stride
from tagweave.kernels.tree import best_total, fill
from tagweave.kernels.tree_logarithms import log_marginals
from tagweave.kernels.tree_potentials import (
    only_heads,
    potentials,
    shifted_with_pairs,
    take_only_heads,
    take_only_pairs,
)

_U = np.uintp
_ONE = np.uintp(1)
_LOG_TREES = math.log(6.75)  # n words have fewer projective trees than exp(n times this)
_LARGEST = 1e200  # largest cell: if its derivative underflows, at most 1e-100 of its probability is lost
_LEAST = 1e-100  # least nonzero cell: products of three such cells are not 0
LOG_SHARE = -575.0  # log 1e-250, the least share of Z in the product of all A
_CHARTS, _ROWS = 10, 5


@kernel
def marginals(scores, allowed, ptr, pair_ptr, lengths, single_root, marginal, log_z):
    """Set marginal[arc] = P(arc), marginal[pair] = P(pair), and log_z float64[B]; -inf and all 0 where no tree is
    allowed.

    scores float32 or float64 (flat), single_root, ptr, pair_ptr and lengths as in `kernels.tree`; a score of -inf
    excludes an arc, too. allowed uint8 or bool, for all arcs, or empty if all are allowed. marginal float (flat), 0 in
    column 0 and on the diagonal. The gradient of log Z(all) - log Z(allowed) is the difference of two such marginals.
    """
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    space = np.empty(_CHARTS * (longest + 2) ** 2)
    rows = np.empty((_ROWS, longest + 2))
    room = np.empty(most_pairs(pair_ptr, lengths))
    neutral, unused = np.zeros(longest + 1, scores.dtype), np.empty(longest + 1, marginal.dtype)
    for s in range(lengths.shape[0]):
        n, step = lengths[s], stride(pair_ptr, s)
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        own = slice(pair_ptr[s], pair_ptr[s + 1])
        evidence = allowed[cells] if allowed.shape[0] else allowed
        pairs, of_pairs = (scores[own], marginal[own]) if step else (neutral, unused)
        q = room[: pairs.shape[0]]
        of_pairs[:] = 0
        log_z[s] = _sentence(
            scores[cells], pairs, evidence, n, step, single_root, space, rows, q, marginal[cells], of_pairs
        )


@kernel
def entropies(scores, ptr, pair_ptr, lengths, marginal, log_z, entropy):
    """Set entropy float64[B], in nats, of the trees of each sentence, from its log Z and marginals; nan of no tree.

    H = log Z - sum over arcs and pairs of P times score, since the score of a tree is the sum of theirs.
    """
    for s in range(lengths.shape[0]):
        expected = 0.0
        for first, last in ((ptr[s], ptr[s] + (lengths[s] + 1) ** 2), (pair_ptr[s], pair_ptr[s + 1])):
            for a in range(first, last):
                if marginal[a] > 0:
                    expected += marginal[a] * scores[a]
        entropy[s] = log_z[s] - expected if log_z[s] > -np.inf else np.nan


@inner
def _sentence(scores, pairs, allowed, n, step, single_root, space, rows, q, marginal, of_pairs):
    """log Z of one sentence; sets its marginals."""
    marginal[:] = 0
    if n == 0:
        return 0.0
    charts = space[: _CHARTS * (n + 2) * (n + 2)].reshape((_CHARTS, n + 2, n + 2))
    p, out = charts[0], marginal.reshape((n + 1, n + 1))
    shift, allows = shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
    if shift == -np.inf:  # a word without any head
        return shift
    if allows == n:
        heads = only_heads(n, p)
        if not take_only_heads(heads, single_root, True, out):
            return -np.inf
        return shift + take_only_pairs(heads, step, q, of_pairs)
    gauge = 0.0
    for attempt in range(2):
        total, is_exact = _sums(n, step, single_root, gauge, charts, rows, q)
        if is_exact:
            if total > 0:
                _outside(n, step, single_root, total, charts, rows, q, out, of_pairs)
            return shift + n * gauge + math.log(total)
        shifted_with_pairs(scores, pairs, allowed, n, step, charts, rows, q)
        if attempt == 0:
            gauge = _gauge(n, step, single_root, total, charts, rows, q)
    return shift + log_marginals(n, single_root, step, q, charts, out, of_pairs)


@inner
def _sums(n, step, single_root, gauge, charts, rows, q):
    """Z of the scores in charts[0], each less the gauge, and q, in potentials; and whether the result is exact
    enough."""
    log_product, least, largest = potentials(n, gauge, charts[0], rows)
    if not largest < _LARGEST:
        return np.inf, False
    for a in range(_U(q.shape[0])):
        q[a] = math.exp(q[a])
        least = min(least, q[a])
    least, largest = _inside(n, step, single_root, charts, rows, q, least, largest)
    total = _total(n, single_root, charts, q)
    is_exact = least > _LEAST or (total > 0 and math.log(total) - log_product > LOG_SHARE)
    return total, is_exact and largest < _LARGEST


@inner
def _gauge(n, step, single_root, total, charts, rows, q):
    """The amount to subtract from all scores, in charts[0], to bring Z near 1, from the last Z and the best tree."""
    if not total < np.inf:
        return _LOG_TREES
    scores = charts[0][: n + 1, : n + 1]
    fill(scores, q, step, single_root, charts[1:6], rows)
    best = best_total(scores, q, step, single_root, n, charts[1:6])
    if best == -np.inf:
        return 0.0
    return max(best, math.log(total)) / n


@inner
def _inside(n, step, single_root, charts, rows, q, least, largest):
    """Fill R, L, r, l, S = charts[1:6]. Returns the least and largest nonzero cell, given bounds included."""
    p, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    N, to_left = _U(n + 1), step * block(n)
    for at in range(n, 0 if single_root else -1, -1):
        i = _U(at)
        R[i, i] = 1.0
        L[i, i] = 1.0
        alone = step * row(n, at, at)
        for x in range(i + _ONE, N):
            split[x] = L[i + _ONE, x]
            left[x] = 0.0
            right[x] = 0.0
            outward[x] = L[i + _ONE, x] * q[alone + x - i - _ONE]
            inward[x] = 0.0
        if at < n:
            inward[i + _ONE] = q[to_left + alone]
        for j in range(i + _ONE, N):
            out, into = outward[j] * p[i, j], inward[j] * p[j, i]
            rightmost, leftmost = right[j] + out, left[j] + into
            R[i, j], L[i, j], r[i, j], l[i, j], S[i, j] = rightmost, leftmost, out, into, split[j]
            for value in (split[j], out, into, rightmost, leftmost):
                largest = max(largest, value)
                if value > 0:
                    least = min(least, value)
            first = j + _ONE
            if first < N and (rightmost > 0 or leftmost > 0 or split[j] > 0):
                inward[first] += rightmost * q[to_left + alone + j - i]
                own = step * row(n, at, j)
                cells, others = (rightmost, leftmost, out, split[j]), (L[first], l[j], R[j], S[j])
                _push(cells, others, q[own:], q[to_left + own :], first, N, rows)
    return least, largest


@inner
def _push(cells, others, to_right, to_left, first, N, rows):
    """Push the finished cells (i, j) to the cells (i, x), x >= first, of which they are parts."""
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    rightmost, leftmost, out, siblings = cells
    L, l, R, S = others  # noqa: E741
    for x in range(first, N):
        split[x] += rightmost * L[x]
        left[x] += leftmost * l[x]
        right[x] += out * R[x]
        outward[x] += out * (S[x] * to_right[x - first])
        inward[x] += siblings * (l[x] * to_left[x - first])


@inner
def _total(n, single_root, charts, q):
    """Z in potentials."""
    p, R, L = charts[0], charts[1], charts[2]
    if not single_root:
        return R[0, n]
    total = 0.0
    for m in range(1, n + 1):
        total += p[0, m] * q[m - 1] * L[1, m] * R[m, n]
    return total


@inner
def _outside(n, step, single_root, total, charts, rows, q, marginal, of_pairs):
    """From the charts of `_inside`, set marginal float[n + 1, n + 1] and those of pairs. dR, dL, dl, dS = charts[6:10]
    are derivatives.

    The derivative of a cell that no tree reaches is unbounded: it may be inf, and inf * 0 is nan, so it is never used.
    """
    p, R, L, r, l, S = charts[0], charts[1], charts[2], charts[3], charts[4], charts[5]  # noqa: E741
    dR, dL, dl, dS = charts[6], charts[7], charts[8], charts[9]
    split, left, right, outward, inward = rows[0], rows[1], rows[2], rows[3], rows[4]
    for i in range(n + 1):
        dR[i, i : n + 1] = 0.0
        dL[i, i : n + 1] = 0.0
        dl[i, i : n + 1] = 0.0
        dS[i, i : n + 1] = 0.0
    if single_root:
        for m in range(1, n + 1):
            share = p[0, m] * q[m - 1] / total
            if share > 0:
                dL[1, m] += share * R[m, n]
                dR[m, n] += share * L[1, m]
                marginal[0, m] = share * L[1, m] * R[m, n]
                of_pairs[m - 1] = marginal[0, m]
    else:
        dR[0, n] = 1.0 / total
    N, to_left = _U(n + 1), step * block(n)
    for at in range(1 if single_root else 0, n):
        i = _U(at)
        alone = step * row(n, at, at)
        for back in range(n - at):
            j = _U(n - back)
            first, own, none = j + _ONE, step * row(n, at, j), alone + j - i - _ONE
            a = _pull(R[i, j], split, L[first], dL[first], first, N)
            b = _pull(L[i, j], left, l[j], dl[j], first, N)
            c = _pull(r[i, j], right, R[j], dR[j], first, N)
            c += _pull_pair(r[i, j], outward, q[own:], S[j], dS[j], of_pairs[own:], first, N)
            own += to_left
            d = _pull_pair(S[i, j], inward, q[own:], l[j], dl[j], of_pairs[own:], first, N)
            if first < N:
                a += inward[first] * q[to_left + alone + j - i]
            right[j] = dR[i, j] + a if R[i, j] > 0 else 0.0
            left[j] = dL[i, j] + b if L[i, j] > 0 else 0.0
            split[j] = dS[i, j] + d if S[i, j] > 0 else 0.0
            of_arc = right[j] + c if r[i, j] > 0 else 0.0
            marginal[i, j] = r[i, j] * of_arc
            outward[j] = p[i, j] * of_arc
            of_arc = left[j] + dl[i, j] if l[i, j] > 0 else 0.0
            marginal[j, i] = l[i, j] * of_arc
            inward[j] = p[j, i] * of_arc
            of_pairs[none] = outward[j] * q[none] * L[i + _ONE, j]
            dL[i + _ONE, j] += outward[j] * q[none]
            of_pairs[to_left + none] = inward[j] * q[to_left + none] * R[i, j - _ONE]
        for x in range(i + _ONE, N):
            dL[i + _ONE, x] += split[x]


@partial(inner, reassociate=True)
def _pull(cell, grown, part, derivative, first, N):
    """One push backwards: derivative += cell * grown. Returns sum grown * part, the derivative of the cell itself."""
    total = 0.0
    for x in range(first, N):
        total += grown[x] * part[x]
        derivative[x] += cell * grown[x]
    return total


@partial(inner, reassociate=True)
def _pull_pair(cell, grown, q, part, derivative, of_pairs, first, N):
    """As `_pull`, of a push with pairs, whose probabilities are set."""
    total = 0.0
    for x in range(first, N):
        share = grown[x] * q[x - first]
        total += share * part[x]
        derivative[x] += cell * share
        of_pairs[x - first] = cell * share * part[x]
    return total
