"""Sum-product over projective dependency trees, under evidence: log Z and the probability of every arc.

The recurrence of `kernels.tree` with sums for maxima and products for sums. With p[h, m] = exp(s[h, m] - shift[m]), and
exactly 0 where the evidence excludes an arc:

    S[i, j] = sum_k R[i, k] L[k+1, j]            r[i, j] = S[i, j] p[i, j]        l[i, j] = S[i, j] p[j, i]
    R[i, j] = sum_m r[i, m] R[m, j]              L[i, j] = sum_m L[i, m] l[m, j]
    Z       = R[0, n],  or with one child of the root  sum_m p[0, m] L[1, m] R[m, n]

The derivative of log Z with respect to each cell comes from running the pushes backwards; times the cell of an arc it
is the arc's probability. The evidence is in p alone: one recurrence gives Z of all trees, and Z of the allowed ones.

Range. Every tree has one head for every word, so a shift changes Z by a factor, which is added back to log Z: it makes
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
from tagweave.kernels.projective import is_projective, is_tree
from tagweave.kernels.tree import best_total, fill
from tagweave.kernels.tree_logarithms import log_marginals

_U = np.uintp
_ONE = np.uintp(1)
_LOG_TREES = math.log(6.75)  # n words have fewer projective trees than exp(n times this)
_LARGEST = 1e200  # largest cell: if its derivative underflows, at most 1e-100 of its probability is lost
_LEAST = 1e-100  # least nonzero cell: products of three such cells are not 0
LOG_SHARE = -575.0  # log 1e-250, the least share of Z in the product of all A
_CHARTS = 8


@kernel
def marginals(scores, allowed, ptr, lengths, single_root, marginal, log_z):
    """Set marginal[arc] = P(arc) and log_z float64[B]; -inf and all 0 where no tree is allowed.

    scores float32 or float64 (flat), single_root, ptr and lengths as in `kernels.tree`; a score of -inf excludes an
    arc, too. allowed uint8 or bool (flat), or empty if all arcs are allowed. marginal float (flat), 0 in column 0 and
    on the diagonal. The gradient of log Z(all) - log Z(allowed) is the difference of two such marginals.
    """
    longest = 0
    for s in range(lengths.shape[0]):
        longest = max(longest, lengths[s])
    space = np.empty(_CHARTS * (longest + 2) ** 2)
    rows = np.empty((3, longest + 2))
    for s in range(lengths.shape[0]):
        n = lengths[s]
        cells = slice(ptr[s], ptr[s] + (n + 1) * (n + 1))
        evidence = allowed[cells] if allowed.shape[0] else allowed
        log_z[s] = _sentence(scores[cells], evidence, n, single_root, space, rows, marginal[cells])


@kernel
def entropies(scores, ptr, lengths, marginal, log_z, entropy):
    """Set entropy float64[B], in nats, of the trees of each sentence, from its log Z and marginals; nan of no tree.

    H = log Z - sum over arcs of P(arc) s(arc), since the score of a tree is the sum of its arcs' scores.
    """
    for s in range(lengths.shape[0]):
        expected = 0.0
        for a in range(ptr[s], ptr[s] + (lengths[s] + 1) ** 2):
            if marginal[a] > 0:
                expected += marginal[a] * scores[a]
        entropy[s] = log_z[s] - expected if log_z[s] > -np.inf else np.nan


@inner
def _sentence(scores, allowed, n, single_root, space, rows, marginal):
    """log Z of one sentence; sets its marginals."""
    marginal[:] = 0
    if n == 0:
        return 0.0
    charts = space[: _CHARTS * (n + 2) * (n + 2)].reshape((_CHARTS, n + 2, n + 2))
    p, out = charts[0], marginal.reshape((n + 1, n + 1))
    shift, allows = shifted(scores, allowed, n, p, rows)
    if shift == -np.inf:  # a word without any head
        return shift
    if allows == n:
        return shift if take_only_heads(n, single_root, True, p, out) else -np.inf
    gauge = 0.0
    for attempt in range(2):
        total, is_exact = _sums(n, single_root, gauge, charts, rows)
        if is_exact:
            if total > 0:
                _outside(n, single_root, total, charts, rows, out)
            return shift + n * gauge + math.log(total)
        shifted(scores, allowed, n, p, rows)
        if attempt == 0:
            gauge = _gauge(n, single_root, total, charts, rows)
    return shift + log_marginals(n, single_root, charts, out)


@inner
def _sums(n, single_root, gauge, charts, rows):
    """Z of the scores in charts[0], each less the gauge, in potentials; and whether the result is exact enough."""
    log_product, least, largest = _potentials(n, gauge, charts[0], rows)
    if not largest < _LARGEST:
        return np.inf, False
    least, largest = _inside(n, single_root, charts, rows, least, largest)
    total = _total(n, single_root, charts)
    is_exact = least > _LEAST or (total > 0 and math.log(total) - log_product > LOG_SHARE)
    return total, is_exact and largest < _LARGEST


@inner
def shifted(scores, allowed, n, p, rows):
    """Set p[h, m] = s[h, m] - the best score into m, -inf where an arc is excluded.

    Returns the sum of the best scores, -inf if a word has no head, and the number of arcs that are not excluded.
    """
    best = rows[0]
    best[: n + 1] = -np.inf
    allows = 0
    for h in range(n + 1):
        for m in range(n + 1):
            a = h * (n + 1) + m
            value = -np.inf
            if m > 0 and m != h and (allowed.shape[0] == 0 or allowed[a]):
                value = np.float64(scores[a])
            p[h, m] = value
            allows += value > -np.inf
            best[m] = max(best[m], value)
    total = 0.0
    for m in range(1, n + 1):
        total += best[m]
    if total > -np.inf:
        best[0] = 0.0
        for h in range(n + 1):
            for m in range(n + 1):
                p[h, m] -= best[m]
    return total, allows


@inner
def take_only_heads(n, single_root, projective, p, marginal):
    """If every word has one head left: set their marginals to 1 if they form a tree, without arcs that cross if
    `projective`. Returns whether."""
    heads = np.empty(n, np.int32)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if p[h, m] > -np.inf:
                heads[m - 1] = h
    if not is_tree(heads, single_root) or (projective and not is_projective(heads)):
        return False
    for m in range(1, n + 1):
        marginal[heads[m - 1], m] = 1
    return True


@inner
def _gauge(n, single_root, total, charts, rows):
    """The amount to subtract from all scores, in charts[0], to bring Z near 1, from the last Z and the best tree."""
    if not total < np.inf:
        return _LOG_TREES
    fill(charts[0][: n + 1, : n + 1], single_root, charts[1:5], rows)
    best = best_total(charts[0], single_root, n, charts[1:5])
    if best == -np.inf:
        return 0.0
    return max(best, math.log(total)) / n


@inner
def _potentials(n, gauge, p, rows):
    """p = exp(p - gauge). Returns log of the product of all A, and the least (of allowed arcs) and the largest p."""
    totals = rows[0]
    totals[:] = 0.0
    least, largest = np.inf, 0.0
    for h in range(n + 1):
        for m in range(n + 1):
            if p[h, m] > -np.inf:
                value = math.exp(p[h, m] - gauge)
                p[h, m] = value
                totals[m] += value
                least, largest = min(least, value), max(largest, value)
            else:
                p[h, m] = 0.0
    log_product = 0.0
    for m in range(1, n + 1):
        log_product += math.log(totals[m])
    return log_product, least, largest


@inner
def _inside(n, single_root, charts, rows, least, largest):
    """Fill R, L, r, l = charts[1:5]. Returns the least and largest nonzero cell, given bounds included."""
    p, R, L, r, l = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741 - the recurrence's name
    split, left, right = rows[0], rows[1], rows[2]
    N = _U(n + 1)
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
            R[i, j], L[i, j], r[i, j], l[i, j] = rightmost, leftmost, outward, inward
            for value in (split[j], outward, inward, rightmost, leftmost):
                largest = max(largest, value)
                if value > 0:
                    least = min(least, value)
            if rightmost > 0 or leftmost > 0:
                _push(rightmost, leftmost, outward, L[j + _ONE], l[j], R[j], j + _ONE, N, split, left, right)
    return least, largest


@inner
def _push(rightmost, leftmost, outward, L, l, R, first, N, split, left, right):  # noqa: E741
    """Push the finished cell (i, j) to the cells (i, x), x >= first, of which it is a part."""
    for x in range(first, N):
        split[x] += rightmost * L[x]
        left[x] += leftmost * l[x]
        right[x] += outward * R[x]


@inner
def _total(n, single_root, charts):
    """Z in potentials."""
    p, R, L = charts[0], charts[1], charts[2]
    if not single_root:
        return R[0, n]
    total = 0.0
    for m in range(1, n + 1):
        total += p[0, m] * L[1, m] * R[m, n]
    return total


@inner
def _outside(n, single_root, total, charts, rows, marginal):
    """From the charts of `_inside`, set marginal float[n + 1, n + 1]. dR, dL, dl = charts[5:8] are derivatives.

    The derivative of a cell that no tree reaches is unbounded: it may be inf, and inf * 0 is nan, so it is never used.
    """
    p, R, L, r, l = charts[0], charts[1], charts[2], charts[3], charts[4]  # noqa: E741 - the recurrence's name
    dR, dL, dl = charts[5], charts[6], charts[7]
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


@partial(inner, reassociate=True)
def _pull(cell, grown, part, derivative, first, N):
    """One push backwards: derivative += cell * grown. Returns sum grown * part, the derivative of the cell itself."""
    total = 0.0
    for x in range(first, N):
        total += grown[x] * part[x]
        derivative[x] += cell * grown[x]
    return total
